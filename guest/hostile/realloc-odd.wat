;; parts: imports announce end
;; Its allocator answers with an odd address where a list needs an even one.
  (memory (export "memory") 2)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 65537))
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $one (local.get $self)))
