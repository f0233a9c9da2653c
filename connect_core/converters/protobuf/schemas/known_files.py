"""Files that every schema may import without a reference: Confluent's are here, Google's beside their libraries."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

__all__ = ["CONFLUENT_FILES", "META_IMPORT", "google_folders"]

META_IMPORT = "confluent/meta.proto"
_META = """syntax = "proto3";
package confluent;
import "google/protobuf/descriptor.proto";
message Meta {
  string doc = 1;
  map<string, string> params = 2;
  repeated string tags = 3;
  repeated Rule rules = 4;
}
message Rule {
  string name = 1;
  string doc = 2;
  string expr = 3;
  string sql = 4;
}
extend google.protobuf.FileOptions { Meta file_meta = 1088; }
extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }
"""
_DECIMAL = """syntax = "proto3";
package confluent.type;
message Decimal {
  bytes value = 1;
  uint32 precision = 2;
  int32 scale = 3;
}
"""
CONFLUENT_FILES = {META_IMPORT: _META, "confluent/type/decimal.proto": _DECIMAL}


def google_folders() -> list[Path]:
    """Return the folders that contain google/protobuf and google/type."""
    tools, types = find_spec("grpc_tools"), find_spec("google.type")
    folders = [] if tools is None or tools.origin is None else [Path(tools.origin).parent / "_proto"]
    places = [] if types is None else list(types.submodule_search_locations or ())
    return [*folders, *(Path(place).parents[1] for place in places)]
