"""Chapter 7: how one program is started as several instances."""
