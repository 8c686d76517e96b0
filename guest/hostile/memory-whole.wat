;; parts: imports announce end
;; Wants all 4 GiB that a 32-bit memory can have before it starts.
  (memory (export "memory") 65536)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 65536))
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $one (local.get $self)))
