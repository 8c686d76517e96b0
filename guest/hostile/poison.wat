;; parts: imports memory announce end
;; Leaves marks everywhere it can, in memory, a global and a table, and completes with the number of marks it found.
  (global $mark (mut i64) (i64.const 0))
  (table $table 1 funcref)
  (func $target)
  (elem declare func $target)
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $found i64)
    (local.set $found (i64.add
      (i64.add (i64.load (i32.const 32768)) (global.get $mark))
      (i64.extend_i32_u (i32.eqz (ref.is_null (table.get $table (i32.const 0)))))))
    (local.set $found (i64.add (local.get $found) (i64.extend_i32_u (i32.ne (memory.size) (i32.const 2)))))
    (i64.store (i32.const 32768) (i64.const 1))
    (global.set $mark (i64.const 1))
    (table.set $table (i32.const 0) (ref.func $target))
    (drop (memory.grow (i32.const 1)))
    (call $number (local.get $self) (local.get $found)))
