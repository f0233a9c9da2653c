"""FileSystemSource: files of a folder or a bucket into Kafka."""
