//! The expansion of the derives.
//!
//! A derive is a procedural macro and has no `$crate`, so a name of the user could capture a name
//! in its output. A derive therefore writes one call of a macro here, with the parts of the type
//! sorted, and that macro writes all unsafe code.
//!
//! Code that forbids `unsafe` can call these macros by hand. So the macros trust nothing:
//!
//! - Each macro is one rule. It writes the unsafe code and all that makes this code sound, so that
//!   no part can be called alone.
//! - Each part of the type is a fragment (`ident`, `ty`, `path`, `vis`, `lifetime`, `literal`). No
//!   token of the caller ends the item around it, and none is an attribute that removes an item.
//!   `__object_layout!` takes the attribute `repr` and writes nothing unsafe.
//! - A fragment has the same tokens at each use, but not always the same type: an expression in it
//!   (`Sel<{ include_bytes!("one")[0] }>`, a procedural macro that counts) expands anew at each
//!   use. So nothing unsafe relies on two equal expansions of one fragment. A name and a lifetime
//!   do not expand. The macros build types from the names of the type and of its parameters.
//! - The checks ask the fields of that type, each by name, and a pattern without `..` ensures that
//!   no field is left out. Unsafe code takes its types from the fields, too. A type that the derive
//!   names is only compared with a field.
//! - A check is a method of the implementation that it justifies, so that one `where` clause serves
//!   both. A false predicate may make a check pass, but then the implementation is of no use.
//!   Refused: a separate function, whose clause would expand anew.
//! - `rt::invariant` gets the type of a field from a raw pointer to it, in a statement of its own.
//!   So nothing is coerced, and no `Deref` of the user makes two types equal.
//!
//! A predicate of a `where` clause has one bound: `{type [lifetimes] type: is Trait,}`, or `maybe
//! Sized,`, or `outlives 'a`. A predicate of a lifetime is `{lifetime 'a: outlives 'b}`.

/// The implementation of `#[derive(Object)]`.
#[doc(hidden)]
#[macro_export]
macro_rules! __object {
    (
        docs [$($docs:literal)*]
        object $vis:vis struct $object:ident
        params [$($t:ident)*]
        predicates [$({
            $(lifetime $wl:lifetime)? $(type [$($wf:lifetime)*] $wt:ty)? :
            $(outlives $wo:lifetime)? $(maybe $wm:path,)? $(is $wb:path,)?
        })*]
        new $new:ident
        span $span:lifetime at $at:lifetime [$($own:lifetime)?]
        downcast [$($single:ident)?]
        layout $layout:ident [$($repr:meta),*]
        fields [$({
            [$($doc_word:ident)*] [$($doc:expr),*] $field_vis:vis $field:ident
            $(slot $kind:ident $slot_type:ty,)?
            $(plain $plain_type:ty, $hint:literal)?
        })*]
    ) => {
        $(#[doc = $docs])*
        #[allow(dead_code, private_bounds)]
        $vis struct $new<$($own,)? $($t,)*>
        where
            $($($wl)? $(for<$($wf),*> $wt)? : $($wo)? $(?$wm)? $($wb)?,)*
            $($(for<'__al_any> $slot_type: $crate::rt::SlotAt<'__al_any>,)?)*
        {
            $(
                $(#[doc($doc_word)])*
                $(#[doc = $doc])*
                $field_vis $field:
                    $(<$slot_type as $crate::rt::SlotAt<$span>>::Init)? $($plain_type)?,
            )*
        }

        const _: () = {
            const __AL_BYTES: $crate::rt::core::primitive::usize = {
                $crate::__object_layout!(
                    $layout [$($repr),*] $object
                    { $($field: $($crate::rt::stand_in::$kind)? $($plain_type)?,)* }
                );
                $crate::rt::layout::<__AlLayout>(false $($(|| $crate::rt::core::mem::needs_drop::<$plain_type>())?)*)
            };
            const __AL_SLOTS: &[$crate::rt::Slot] = {
                $crate::__object_layout!(
                    $layout [$($repr),*] $object
                    { $($field: $($crate::rt::stand_in::$kind)? $($plain_type)?,)* }
                );
                &[$($(
                    $crate::rt::Slot::new(
                        $crate::rt::core::stringify!($field),
                        $crate::rt::HEADER_BYTES + $crate::rt::core::mem::offset_of!(__AlLayout, $field),
                        $crate::rt::SlotKind::$kind,
                    ),
                )?)*]
            };
            const __AL_SHAPE: $crate::rt::Shape = $crate::rt::Shape::constant(
                $crate::rt::core::stringify!($object),
                __AL_BYTES,
                __AL_SLOTS,
                $crate::rt::core::option::Option::None,
            );

            // The message for a `Drop`. `__al_fields` is the code that forbids it.
            impl<$($own,)? $($t,)*> $crate::rt::MustNotImplDrop for $new<$($own,)? $($t,)*>
            where
                $($($wl)? $(for<$($wf),*> $wt)? : $($wo)? $(?$wm)? $($wb)?,)*
                $($(for<'__al_any> $slot_type: $crate::rt::SlotAt<'__al_any>,)?)*
            {
            }

            // SAFETY: the object is a struct after its header, and only `write` below makes one. A
            // caller of `write` has the initialiser's `Carry`, where `__al_fields` checks that each
            // field of the object is a slot, or `PlainData` without drop glue. `write` asserts
            // size, alignment, and that nothing is dropped.
            unsafe impl<$($t,)*> $crate::Object for $object<$($t,)*>
            where
                $($($wl)? $(for<$($wf),*> $wt)? : $($wo)? $(?$wm)? $($wb)?,)*
            {
                type View = Self;

                #[inline(always)]
                unsafe fn view<'__al_view>(
                    __al_object: $crate::rt::core::ptr::NonNull<$crate::rt::core::primitive::u8>,
                ) -> &'__al_view Self {
                    // SAFETY: the caller's predicates.
                    unsafe { $crate::rt::body(__al_object) }
                }
            }

            $(
                // SAFETY: the static is the shape of this type alone. `__al_fields` checks that
                // `$single` is the object; a type with parameters would not compile there.
                unsafe impl $crate::Downcast for $single {
                    #[inline(always)]
                    fn type_shape() -> &'static $crate::rt::TypeShape {
                        $crate::type_shape!(__AL_SHAPE)
                    }
                }
            )?

            // SAFETY: `__al_fields` checks every field of the initialiser. A field is either a bare
            // value for the span, which at another span is the value for that span, or data of the
            // object's type, without lifetimes. `trace` visits the bare values. There is no `Drop`.
            unsafe impl<$($own,)? $($t,)*> $crate::Carry for $new<$($own,)? $($t,)*>
            where
                $($($wl)? $(for<$($wf),*> $wt)? : $($wo)? $(?$wm)? $($wb)?,)*
                $($(for<'__al_any> $slot_type: $crate::rt::SlotAt<'__al_any>,)?)*
            {
                type At<$at> = $crate::__object_at!([$($own)?] $at $new [$($t)*]);

                fn trace(&mut self, __al_slots: &mut $crate::rt::SlotVisitor<'_>) {
                    $($($crate::rt::trace_slot($crate::rt::SlotKind::$kind, &mut self.$field, __al_slots);)?)*
                    let _ = __al_slots;
                }

                // The fields of the initialiser, of the initialiser at another span, and of the
                // object.
                #[inline]
                #[allow(unused_mut, unused_variables)]
                fn __al_fields<$at>(mut __al_new: Self, mut __al_other: Self::At<$at>) {
                    $crate::rt::no_drop::<Self, _>();
                    let $crate::rt::core::option::Option::Some(mut __al_object) =
                        $crate::rt::core::option::Option::None::<$object<$($t,)*>>
                    else {
                        return;
                    };
                    $({
                        let __al_in_object = $crate::rt::invariant(&raw mut __al_object.$field);
                        let __al_in_new = $crate::rt::invariant(&raw mut __al_new.$field);
                        let __al_in_other = $crate::rt::invariant(&raw mut __al_other.$field);
                        $(
                            $crate::rt::slot_field::<$span, $at, _>(
                                $crate::rt::SlotKind::$kind, __al_in_object, __al_in_new, __al_in_other,
                            );
                        )?
                        $(
                            // A separate item: the type mentions no parameter.
                            const __AL_PLAIN: $crate::rt::PlainField<$plain_type> =
                                $crate::rt::PlainField::new($crate::rt::core::concat!(
                                    "field `", $crate::rt::core::stringify!($field), "`: ", $hint
                                ));
                            $crate::rt::PlainField::same(__AL_PLAIN, __al_in_object, __al_in_new, __al_in_other);
                        )?
                    })*
                    $(
                        let __al_whole = $crate::rt::invariant(&raw mut __al_object);
                        $crate::rt::Invariant::<$single>::same(__al_whole);
                    )?
                    let $object { $($field: _,)* } = __al_object;
                    let $new { $($field: _,)* } = __al_new;
                    let $new { $($field: _,)* } = __al_other;
                }
            }

            // SAFETY: `write` writes the whole struct, by an expression that names every field. Its
            // assertion compares the slots of the shape with those of the struct, wherever the
            // numbers come from. `__al_object_fields` checks that each value that `write` puts into
            // a field has the field's type, so that nothing is coerced and no `Deref` of a user
            // runs.
            unsafe impl<$($own,)? $($t,)*> $crate::New for $new<$($own,)? $($t,)*>
            where
                $($($wl)? $(for<$($wf),*> $wt)? : $($wo)? $(?$wm)? $($wb)?,)*
                $($(for<'__al_any> $slot_type: $crate::rt::SlotAt<'__al_any>,)?)*
            {
                type Object = $object<$($t,)*>;

                #[inline(always)]
                fn type_shape() -> &'static $crate::rt::TypeShape {
                    $crate::__object_shape!([$($single)?] __AL_SHAPE)
                }

                #[inline(always)]
                fn bytes(&self) -> $crate::rt::core::primitive::usize {
                    const { $crate::rt::object_bytes($crate::rt::core::mem::size_of::<<Self as $crate::New>::Object>()) }
                }

                #[inline(always)]
                unsafe fn write(self, __al_object: $crate::rt::core::ptr::NonNull<$crate::rt::core::primitive::u8>) {
                    const {
                        $crate::rt::assert_layout::<<Self as $crate::New>::Object>(
                            __AL_BYTES,
                            __AL_SLOTS,
                            &[$($((
                                $crate::rt::core::mem::offset_of!(<Self as $crate::New>::Object, $field),
                                $crate::rt::kind_of::<<Self as $crate::New>::Object, _>(
                                    $crate::rt::SlotKind::$kind,
                                    |__al_body| $crate::rt::invariant(&raw mut __al_body.$field),
                                ),
                            ),)?)*],
                        );
                    }
                    let __al_body = $object {
                        $($field: $({
                            let (__al_kind, __al_value) = ($crate::rt::SlotKind::$kind, self.$field);
                            // SAFETY: the slot goes straight into the new object, below.
                            unsafe { $crate::rt::init_slot(__al_kind, __al_value) }
                        })? $({
                            let _ = $hint;
                            self.$field
                        })?,)*
                    };
                    // SAFETY: the caller's memory.
                    unsafe { $crate::rt::write_body::<<Self as $crate::New>::Object>(__al_object, __al_body) }
                }

                #[inline]
                #[allow(unused_mut, unused_variables)]
                fn __al_object_fields(mut __al_object: Self::Object, mut __al_new: Self) {
                    $({
                        let __al_in_object = $crate::rt::invariant(&raw mut __al_object.$field);
                        let __al_in_new = $crate::rt::invariant(&raw mut __al_new.$field);
                        $($crate::rt::init_field($crate::rt::SlotKind::$kind, __al_in_object, __al_in_new);)?
                        $($crate::rt::same_field($hint, __al_in_object, __al_in_new);)?
                    })*
                    let $object { $($field: _,)* } = __al_object;
                    let $new { $($field: _,)* } = __al_new;
                }
            }
        };
    };
}

/// The struct whose layout the shape has: the object itself, or a stand-in for a generic object.
/// `write` compares its layout with that of the object.
#[doc(hidden)]
#[macro_export]
macro_rules! __object_layout {
    (own [$($repr:meta),*] $object:ident { $($fields:tt)* }) => { type __AlLayout = $object; };
    (stand_in [$($repr:meta),*] $object:ident { $($field:ident: $type:ty,)* }) => {
        #[allow(dead_code)]
        $(#[repr($repr)])*
        struct __AlLayout { $($field: $type,)* }
    };
}

/// An initialiser at another span.
#[doc(hidden)]
#[macro_export]
macro_rules! __object_at {
    ([] $at:lifetime $new:ident [$($t:ident)*]) => { $new<$($t,)*> };
    ([$own:lifetime] $at:lifetime $new:ident [$($t:ident)*]) => { $new<$at, $($t,)*> };
}

/// The one static of a type: that of `Downcast`, if there is one.
#[doc(hidden)]
#[macro_export]
macro_rules! __object_shape {
    ([] $shape:ident) => {
        $crate::type_shape!($shape)
    };
    ([$single:ident] $shape:ident) => {
        <$single as $crate::Downcast>::type_shape()
    };
}

/// The implementation of `#[derive(Carry)]`.
#[doc(hidden)]
#[macro_export]
macro_rules! __carry {
    (
        carry $name:ident
        span $span:lifetime at $at:lifetime
        lifetimes [$($l:lifetime)*]
        params [$($(type $t:ident)? $(const $c:ident $ct:ty)?;)*]
        predicates [$({
            $(lifetime $wl:lifetime)? $(type [$($wf:lifetime)*] $wt:ty)? :
            $(outlives $wo:lifetime)? $(maybe $wm:path,)? $(is $wb:path,)?
        })*]
        fields [$({ $field:tt [$field_type:ty] })*]
    ) => {
        const _: () = {
            // The message for a `Drop`. `__al_fields` is the code that forbids it.
            impl<$span, $($l,)* $($($t)? $(const $c: $ct)?,)*> $crate::rt::MustNotImplDrop
                for $name<$span, $($l,)* $($($t)? $($c)?,)*>
            where
                $($($wl)? $(for<$($wf),*> $wt)? : $($wo)? $(?$wm)? $($wb)?,)*
            {
            }

            // SAFETY: `__al_fields` checks every field: it is carried, and at another span it has
            // the type that `Carry` names, so that only the span is replaced. `trace` visits each.
            // There is no `Drop`.
            unsafe impl<$span, $($l,)* $($($t)? $(const $c: $ct)?,)*> $crate::Carry
                for $name<$span, $($l,)* $($($t)? $($c)?,)*>
            where
                $($($wl)? $(for<$($wf),*> $wt)? : $($wo)? $(?$wm)? $($wb)?,)*
            {
                type At<$at> = $name<$at, $($l,)* $($($t)? $($c)?,)*>;

                fn trace(&mut self, __al_slots: &mut $crate::rt::SlotVisitor<'_>) {
                    $($crate::rt::trace_carried(&mut self.$field, __al_slots);)*
                    let _ = __al_slots;
                }

                // The fields of the struct, and of the struct at another span.
                #[inline]
                #[allow(unused_mut, unused_variables)]
                fn __al_fields<$at>(mut __al_own: Self, mut __al_other: Self::At<$at>) {
                    $crate::rt::no_drop::<Self, _>();
                    $(
                        let __al_in_own = $crate::rt::invariant(&raw mut __al_own.$field);
                        let __al_in_other = $crate::rt::invariant(&raw mut __al_other.$field);
                        $crate::rt::carried_field::<$at, $field_type>(__al_in_own, __al_in_other);
                    )*
                    let $name { $($field: _,)* } = __al_own;
                    let $name { $($field: _,)* } = __al_other;
                }
            }
        };
    };
}

/// The implementation of `#[derive(Word)]`.
#[doc(hidden)]
#[macro_export]
macro_rules! __word {
    (
        docs [$($docs:literal)*]
        word $vis:vis enum $word:ident
        bare $name:ident at $at:lifetime [$type:ty]
        units [$({ $unit:ident $unit_number:literal })*]
        immediates [$({ $immediate:ident $immediate_number:literal })*]
        pointers $pointers:literal [$({ $pointer:ident $pointer_number:literal })*]
    ) => {
        $(#[doc = $docs])*
        #[allow(missing_debug_implementations)]
        $vis enum $word {}

        const _: () = {
            const _: () = $crate::rt::numbered(
                &[$($unit_number,)* $($immediate_number,)*],
                &[$($pointer_number,)*],
                $pointers,
            );

            // SAFETY: `decode` below inverts it, and a pointer's bits are a reference with a tag.
            unsafe impl<$at> $crate::Bare<$at> for $type {
                type Word = $word;

                #[inline]
                fn encode(self) -> $crate::rt::core::primitive::u64 {
                    match self {
                        $($name::$unit => $unit_number << 1 | 1,)*
                        $($name::$immediate(__al_value) => $crate::rt::encode_immediate($immediate_number, __al_value),)*
                        $($name::$pointer(__al_pointer) => $crate::rt::encode_pointer::<$at, _>($pointer_number, __al_pointer),)*
                    }
                }
            }

            // SAFETY: as above; a pointer is made for the span `decode` is called with.
            unsafe impl $crate::Word for $word {
                type Of<$at> = $type;
                const NONE: $crate::rt::core::primitive::u64 = $crate::rt::NO_VARIANT;

                #[inline]
                unsafe fn decode<$at>(__al_bits: $crate::rt::core::primitive::u64) -> Self::Of<$at> {
                    if __al_bits & 1 != 0 {
                        match __al_bits >> 1 & 0x7F {
                            $($unit_number => $name::$unit,)*
                            // SAFETY: that variant's number.
                            $($immediate_number => $name::$immediate(unsafe { $crate::rt::decode_immediate(__al_bits) }),)*
                            // SAFETY: there is no other variant.
                            _ => unsafe { $crate::rt::no_variant(__al_bits) },
                        }
                    } else {
                        match $crate::rt::pointer_variant(__al_bits, $pointers) {
                            $(
                                // SAFETY: that variant's number.
                                $pointer_number => {
                                    $name::$pointer(unsafe { $crate::rt::decode_pointer::<$at, _>(__al_bits) })
                                }
                            )*
                            // SAFETY: there is no other variant.
                            _ => unsafe { $crate::rt::no_variant(__al_bits) },
                        }
                    }
                }
            }

            // SAFETY: its pointers hold references for the span. The type is `Copy`, so it has no
            // `Drop`. `__al_fields` checks that this type is the bare value of the word: `$type`
            // above may be another.
            unsafe impl<$at> $crate::Carry for $type {
                type At<'__al_at> = <$word as $crate::Word>::Of<'__al_at>;

                fn trace(&mut self, __al_slots: &mut $crate::rt::SlotVisitor<'_>) {
                    $crate::rt::trace_word(self, __al_slots);
                }

                #[inline]
                fn __al_fields<'__al_at>(_: Self, _: Self::At<'__al_at>) {
                    $crate::rt::bare_of::<$at, $word, Self>();
                }
            }
        };
    };
}
