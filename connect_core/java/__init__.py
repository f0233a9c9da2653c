"""What the JVM does and Connect's users rely on: its numbers, texts, dates, regular expressions and names."""
