;; parts: imports announce end
;; Wants 100 pages, 6,553,600 bytes, before it starts.
  (memory (export "memory") 100)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 65536))
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $one (local.get $self)))
