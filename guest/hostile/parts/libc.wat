  ;; Memory, an allocator that never frees nor grows, and the imports lowered to core functions.
  (core module $libc-module
    (memory (export "memory") 2)
    (global $heap (mut i32) (i32.const 65536))
    (func (export "cabi_realloc") (param $old i32) (param $old-size i32) (param $align i32) (param $size i32) (result i32)
      (local $start i32)
      (local.set $start
        (i32.and
          (i32.add (global.get $heap) (i32.sub (local.get $align) (i32.const 1)))
          (i32.sub (i32.const 0) (local.get $align))))
      (global.set $heap (i32.add (local.get $start) (local.get $size)))
      (local.get $start)))
  (core instance $libc (instantiate $libc-module))
  (alias core export $libc "memory" (core memory $memory))
  (alias core export $libc "cabi_realloc" (core func $realloc))
  (core func $log (canon lower (func $host "[method]execution.log") (memory $memory)))
  (core func $complete (canon lower (func $host "[method]execution.complete") (memory $memory)))
  (core func $drop (canon resource.drop $execution))
