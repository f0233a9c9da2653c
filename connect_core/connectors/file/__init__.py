"""FileStreamSource and FileStreamSink: lines of a file from and to Kafka."""
