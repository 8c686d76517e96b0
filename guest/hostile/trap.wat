;; parts: imports memory announce end
;; Traps as the program says: a unreachable, b division by zero, c division overflow, d conversion to integer, e memory, f
;; table, g null element, h wrong signature, i memory.fill, j table.init. It logs first.
  (data (i32.const 0) "about to trap")
  (type $nullary (func))
  (table $table 2 2 funcref)
  (elem $element funcref (ref.func $unary))
  (elem (table $table) (i32.const 0) func $unary)
  (func $unary (param i32))
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $zero i32)
    (call $log (local.get $self) (i32.const 0) (i32.const 13))
    (block $j (block $i (block $h (block $g (block $f (block $e (block $d (block $c (block $b (block $a
      (br_table $a $b $c $d $e $f $g $h $i $j
        (i32.sub (i32.load8_u (local.get $program)) (i32.const 97))))
      unreachable)
      (drop (i32.div_u (i32.const 1) (local.get $zero))))
      (drop (i32.div_s (i32.const 0x80000000) (i32.sub (local.get $zero) (i32.const 1)))))
      (drop (i32.trunc_f64_s (f64.div (f64.convert_i32_u (local.get $zero)) (f64.convert_i32_u (local.get $zero))))))
      (drop (i32.load (i32.sub (local.get $zero) (i32.const 4)))))
      (call_indirect $table (type $nullary) (i32.add (local.get $zero) (i32.const 2))))
      (call_indirect $table (type $nullary) (i32.add (local.get $zero) (i32.const 1))))
      (call_indirect $table (type $nullary) (local.get $zero)))
      (memory.fill (i32.const 0x10000) (i32.const 1) (i32.const 0x10001)))
    (table.init $table $element (i32.const 2) (i32.const 0) (i32.const 1)))
