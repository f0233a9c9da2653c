"""JVM behaviour that Connect's users rely on: numbers, texts, dates, regular expressions, names; see README.md."""
