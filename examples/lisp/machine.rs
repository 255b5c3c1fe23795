//! Runs code: a stack of operands, and three registers.
//!
//! A call pushes its return address, and Rust's own stack does not grow. So a number limits
//! recursion, and nothing limits tail calls, which push nothing. The registers `code` and `frame`
//! are bare pointers. They cost nothing while instructions run; at each possible allocation the
//! live list makes them survive.
//!
//! Refused: a function of Rust for each kind of expression. Deep recursion of a program would
//! overflow the stack of the interpreter.

use crate::builtins::{self, Args, Body};
use crate::code::Op;
use crate::fault::Fault;
use crate::lisp::{DEEPEST, Lisp, list};
use crate::numbers::{Number, boxed};
use crate::printer::print;
use crate::value::{Code, Frame, NewClosure, Val};
use allotment::{Fixnum, Gc, Local, Mutator, NewArray, alloc, keep, rebind, ret, root};

/// Runs a function without arguments. Returns its value.
pub fn run<'m>(
    mu: &'m mut Mutator<'_>,
    lisp: &mut Lisp<'_, '_>,
    function: Local<'_, Code>,
) -> Result<Val<'m>, Fault> {
    let bottom = lisp.stack.len();
    let result = rebind!(mu, execute(mu, lisp, function));
    if result.is_err() {
        lisp.stack.truncate(mu, bottom);
    }
    Ok(rebind!(mu, result?))
}

/// The frame that many functions outward.
fn outer<'g>(mu: &'g Mutator<'_>, mut frame: Gc<'g, Frame>, depth: usize) -> Gc<'g, Frame> {
    for _ in 0..depth {
        let Val::Frame(around) = frame.at(0).load(mu) else { break };
        frame = around;
    }
    frame
}

/// The fault, with this instruction's place in its file.
fn located(mu: &Mutator<'_>, fault: Fault, code: Gc<'_, Code>, pc: usize) -> Fault {
    fault.at(&code.file.load(mu), code.lines.load(mu)[pc].get())
}

fn unbound(mu: &Mutator<'_>, name: Val<'_>) -> Fault {
    let Val::Symbol(symbol) = name else { return Fault::new("unbound variable") };
    Fault::new(format!("the variable {} has no value", &*symbol.name.load(mu)))
}

fn execute<'m>(
    mu: &'m mut Mutator<'_>,
    lisp: &mut Lisp<'_, '_>,
    function: Local<'_, Code>,
) -> Result<Val<'m>, Fault> {
    let bottom = lisp.stack.len();
    let slots = function.get(mu).slots as usize;
    let mut frame = alloc!(mu, NewArray::new(slots, Val::Unbound))?;
    let mut code = function.get(mu);
    let mut pc = 0;
    loop {
        let (op, operand) = Op::decode(code.instructions.load(mu)[pc].get());
        pc += 1;
        /// Returns a fault of this instruction.
        macro_rules! fault {
            ($fault:expr) => {{
                let fault = $fault;
                return Err(located(mu, fault, code, pc - 1));
            }};
        }
        match op {
            Op::Const => lisp.stack.push(mu, code.constants.load(mu)[operand].load(mu)),
            Op::Unspecified => lisp.stack.push(mu, Val::Unspecified),
            Op::Local => lisp.stack.push(mu, frame[operand].load(mu)),
            Op::Outer => {
                let from = outer(mu, frame, operand >> 16);
                lisp.stack.push(mu, from[operand & 0xFFFF].load(mu));
            }
            Op::Global => {
                let name = code.constants.load(mu)[operand].load(mu);
                match name {
                    Val::Symbol(symbol) if symbol.global.load(mu) != Val::Unbound => {
                        lisp.stack.push(mu, symbol.global.load(mu));
                    }
                    _ => fault!(unbound(mu, name)),
                }
            }
            Op::Check => {
                if lisp.stack.last(mu) == Some(Val::Unbound) {
                    fault!(unbound(mu, code.constants.load(mu)[operand].load(mu)));
                }
            }
            Op::Store => frame[operand].store(mu, lisp.pop(mu)),
            Op::StoreOuter => {
                let to = outer(mu, frame, operand >> 16);
                to[operand & 0xFFFF].store(mu, lisp.pop(mu));
            }
            Op::StoreGlobal | Op::Define => {
                let name = code.constants.load(mu)[operand].load(mu);
                match name {
                    Val::Symbol(s) if matches!(op, Op::Define) || s.global.load(mu) != Val::Unbound => {
                        s.global.store(mu, lisp.pop(mu));
                    }
                    _ => fault!(unbound(mu, name)),
                }
            }
            Op::Pop => {
                lisp.pop(mu);
            }
            Op::Jump => pc = operand,
            Op::JumpFalse | Op::JumpTrue => {
                if lisp.pop(mu).is_true() == matches!(op, Op::JumpTrue) {
                    pc = operand;
                }
            }
            Op::And | Op::Or => {
                if lisp.stack.last(mu).is_some_and(Val::is_true) == matches!(op, Op::Or) {
                    pc = operand;
                } else {
                    lisp.pop(mu);
                }
            }
            Op::Same => {
                let same = lisp.pop(mu) == lisp.pop(mu);
                lisp.stack.push(mu, Val::Bool(same));
            }
            Op::Closure => {
                let Val::Code(of) = code.constants.load(mu)[operand].load(mu) else { continue };
                match alloc!(mu, [code, frame] => NewClosure { code: of, frame }) {
                    Ok(closure) => lisp.stack.push(mu, Val::Closure(closure)),
                    Err(error) => fault!(error.into()),
                }
            }
            Op::Call | Op::TailCall => {
                let mut count = operand;
                // Runs once more for the function that `apply` is to call.
                loop {
                    let base = lisp.stack.len() - count;
                    match lisp.stack.get(mu, base - 1).unwrap_or(Val::Unbound) {
                        Val::Closure(closure) => {
                            let mut callee = closure.code.load(mu);
                            let required = callee.required as usize;
                            if count < required || count > required && !callee.rest {
                                fault!(wrong_count(mu, callee, count));
                            }
                            if callee.rest {
                                root!(mu, nil = Val::Nil);
                                match keep!(mu, [code, frame, callee] => {
                                    rebind!(mu, list(mu, &mut lisp.stack, base + required, nil))
                                }) {
                                    Ok(rest) => lisp.stack.push(mu, rest),
                                    Err(error) => fault!(error),
                                }
                            }
                            let new = NewArray::new(callee.slots as usize, Val::Unbound);
                            let new = match alloc!(mu, [code, frame, callee] => new) {
                                Ok(new) => new,
                                Err(error) => fault!(error.into()),
                            };
                            if let Some(Val::Closure(closure)) = lisp.stack.get(mu, base - 1) {
                                new[0].store(mu, Val::Frame(closure.frame.load(mu)));
                            }
                            for at in base..lisp.stack.len() {
                                let argument = lisp.stack.get(mu, at).unwrap_or(Val::Unbound);
                                new[1 + at - base].store(mu, argument);
                            }
                            lisp.stack.truncate(mu, base - 1);
                            if matches!(op, Op::Call) {
                                if lisp.stack.len() > DEEPEST {
                                    fault!(Fault::new("recursion is too deep"));
                                }
                                lisp.stack.push(mu, Val::Code(code));
                                lisp.stack.push(mu, Val::Frame(frame));
                                lisp.stack.push(mu, Val::Int(Fixnum::from(pc as i32)));
                            }
                            (code, frame, pc) = (callee, new, 0);
                            break;
                        }
                        Val::Builtin(index) => {
                            let builtin = &builtins::ALL[index as usize];
                            let args = Args { base, count };
                            if count < builtin.least || count > builtin.most {
                                fault!(builtin.wrong_count(count));
                            }
                            let result = match builtin.body {
                                Body::Apply => match builtins::spread(mu, lisp, args) {
                                    Ok(spread) => {
                                        count = spread;
                                        continue;
                                    }
                                    Err(fault) => Err(fault),
                                },
                                Body::Look(look) => look(mu, lisp, args),
                                Body::Number(compute) => match compute(mu, lisp, args) {
                                    Ok(Number::Int(n)) => Ok(Val::Int(n)),
                                    Ok(Number::Float(f)) => {
                                        keep!(mu, [code, frame] => rebind!(mu, boxed(mu, f)))
                                    }
                                    Err(fault) => Err(fault),
                                },
                                Body::Make(make) => {
                                    keep!(mu, [code, frame] => rebind!(mu, make(mu, lisp, args)))
                                }
                            };
                            match result {
                                Ok(value) => {
                                    lisp.stack.truncate(mu, base - 1);
                                    lisp.stack.push(mu, value);
                                }
                                Err(error) => fault!(error.of(builtin.name)),
                            }
                            break;
                        }
                        other => {
                            let text = print(mu, other, true)?;
                            fault!(Fault::new(format!(
                                "{text} is {}, not a procedure: it cannot be called",
                                other.kind()
                            )));
                        }
                    }
                }
            }
            Op::Return => {
                let value = lisp.pop(mu);
                if lisp.stack.len() == bottom {
                    ret!(mu, Ok(value));
                }
                if let (Val::Int(at), Val::Frame(of), Val::Code(to)) =
                    (lisp.pop(mu), lisp.pop(mu), lisp.pop(mu))
                {
                    (code, frame, pc) = (to, of, at.get() as usize);
                }
                lisp.stack.push(mu, value);
            }
        }
    }
}

fn wrong_count(mu: &Mutator<'_>, callee: Gc<'_, Code>, count: usize) -> Fault {
    let name = match callee.name.load(mu) {
        Val::Symbol(name) => name.name.load(mu).to_string(),
        _ => "a procedure without a name".to_string(),
    };
    let (required, or_more) = (callee.required, if callee.rest { " or more" } else { "" });
    Fault::new(format!("{name} takes {required}{or_more} arguments and was given {count}"))
}
