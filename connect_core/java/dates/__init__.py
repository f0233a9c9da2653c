"""Java's SimpleDateFormat, and its calendar."""
