"""What an operator can do: functions over the store, a scheduler and the plugins."""
