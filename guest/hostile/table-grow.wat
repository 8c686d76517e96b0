;; parts: imports memory announce end
;; Grows a table by a thousand elements at a time until that is refused, and then traps.
  (table $table 0 funcref)
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (loop $again (br_if $again (i32.ne (table.grow $table (ref.null func) (i32.const 1000)) (i32.const -1))))
    unreachable)
