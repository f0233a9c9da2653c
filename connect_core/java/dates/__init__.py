"""Java's SimpleDateFormat, and the calendar under it."""
