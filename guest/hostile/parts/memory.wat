  ;; One page for data, 4 KiB of scratch for answers at 60 KiB, and an allocator that never frees: it starts at
  ;; 64 KiB and grows the memory as it goes.
  (memory (export "memory") 2)
  (global $heap (mut i32) (i32.const 65536))
  (func $cabi_realloc (export "cabi_realloc")
    (param $old i32) (param $old-size i32) (param $align i32) (param $size i32) (result i32)
    (local $start i32)
    (local.set $start
      (i32.and
        (i32.add (global.get $heap) (i32.sub (local.get $align) (i32.const 1)))
        (i32.sub (i32.const 0) (local.get $align))))
    (global.set $heap (i32.add (local.get $start) (local.get $size)))
    (if (i32.gt_u (global.get $heap) (i32.mul (memory.size) (i32.const 65536)))
      (then
        (if (i32.eq (i32.const -1)
              (memory.grow
                (i32.add (i32.const 1)
                  (i32.div_u
                    (i32.sub (global.get $heap) (i32.mul (memory.size) (i32.const 65536)))
                    (i32.const 65536)))))
          (then unreachable))))
    (local.get $start))
