"""The correct loaders that are unusual, of all chapters: nothing may ever be held against one."""

from tests.known_bad.alone import UNUSUAL_ALONE
from tests.known_bad.correct import Correct
from tests.known_bad.drawing import UNUSUAL_DRAWING
from tests.known_bad.endless import UNUSUAL_ENDLESS
from tests.known_bad.equal import UNUSUAL_EQUAL
from tests.known_bad.unusual import UNUSUAL
from tests.known_bad.unusual_elsewhere import UNUSUAL_ELSEWHERE
from tests.known_bad.unusual_orders import UNUSUAL_ORDERS
from tests.known_bad.unusual_reading import UNUSUAL_READING
from tests.known_bad.unusual_starting import UNUSUAL_STARTING
from tests.known_bad.unusual_streams import UNUSUAL_STREAMS

ALL_UNUSUAL: tuple[type[Correct], ...] = (
    *UNUSUAL,
    *UNUSUAL_ORDERS,
    *UNUSUAL_READING,
    *UNUSUAL_STARTING,
    *UNUSUAL_STREAMS,
    *UNUSUAL_ELSEWHERE,
    *UNUSUAL_EQUAL,
    *UNUSUAL_DRAWING,
    *UNUSUAL_ALONE,
    *UNUSUAL_ENDLESS,
)
