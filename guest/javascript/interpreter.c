// QuickJS as one unit, with the accessors of interpreter.h behind it.
//
// cutils.h goes first because it needs __wasi__ to pick libc functions; QuickJS itself must not see __wasi__, or it
// switches its stack limit off.
#include "cutils.h"
#undef __wasi__
#include "quickjs.c"

#include "interpreter.h"

// --- memory ---------------------------------------------------------------------------------------------------------

// Enough for an error object, its message and its stack. The interpreter asks for blocks of 4 KiB and more.
#define RESERVE_BYTES (32 * 1024)

static void *reserve;

static void *or_spend_reserve(void *block) {
    if (!block) {
        free(reserve);
        reserve = NULL;
    }
    return block;
}

static void *reserving_calloc(void *opaque, size_t count, size_t size) {
    (void)opaque;
    return or_spend_reserve(calloc(count, size));
}

static void *reserving_malloc(void *opaque, size_t size) {
    (void)opaque;
    return or_spend_reserve(malloc(size));
}

static void *reserving_realloc(void *opaque, void *block, size_t size) {
    (void)opaque;
    return or_spend_reserve(realloc(block, size));
}

static void reserving_free(void *opaque, void *block) {
    (void)opaque;
    free(block);
    if (!reserve) reserve = malloc(RESERVE_BYTES);
}

JSRuntime *runtime_new(void) {
    static const JSMallocFunctions functions = {
        reserving_calloc, reserving_malloc, reserving_free, reserving_realloc, js__malloc_usable_size,
    };
    reserve = malloc(RESERVE_BYTES);
    return JS_NewRuntime2(&functions, NULL);
}

// --- compiling ------------------------------------------------------------------------------------------------------

enum { EFFECT_NONE, EFFECT_STORES, EFFECT_CALLS };

// What running the bytecode from `start` on could do to the world, as far as its opcodes tell.
static int effect_since(const JSFunctionDef *fd, size_t start) {
    int effect = EFFECT_NONE;
    const uint8_t *code = fd->byte_code.buf;
    for (size_t at = start; at < fd->byte_code.size; at += opcode_info[code[at]].size) {
        switch (code[at]) {
        case OP_call: case OP_call_method: case OP_call_constructor: case OP_apply: case OP_eval: case OP_apply_eval:
        case OP_await: case OP_yield: case OP_import: case OP_throw: case OP_return: case OP_return_async:
            return EFFECT_CALLS;
        case OP_put_var: case OP_put_ref_value: case OP_put_field: case OP_put_private_field: case OP_put_array_el:
        case OP_put_super_value: case OP_scope_put_var: case OP_scope_put_private_field: case OP_delete:
        case OP_scope_delete_var: case OP_scope_make_ref:
            effect = EFFECT_STORES;
            break;
        default:
            break;
        }
    }
    return effect;
}

static const char *declared_entry(JSContext *ctx, const JSFunctionDef *fd) {
    static const char *const names[] = {"main", "run"};
    const char *found = NULL;
    for (size_t n = 0; n < countof(names) && !found; n++) {
        JSAtom name = JS_NewAtom(ctx, names[n]);
        for (int i = 0; i < fd->var_count; i++)
            if (fd->vars[i].var_name == name && fd->vars[i].scope_level <= fd->body_scope) found = names[n];
        JS_FreeAtom(ctx, name);
    }
    return found;
}

// The statements up to the end of the text, as js_parse_function_decl2 parses them up to its closing brace.
static int parse_statements(JSParseState *s, Outline *outline) {
    JSFunctionDef *fd = s->cur_func;
    BlockEnv using_entry;
    bool has_using = false, only_declares = true;

    while (s->token.val != TOK_EOF) {
        size_t start = fd->byte_code.size;
        if (js_parse_source_element(s)) return -1;
        int effect = effect_since(fd, start);
        only_declares &= effect != EFFECT_CALLS;
        outline->trailing_expression = effect == EFFECT_NONE && fd->byte_code.size > start &&
                                       fd->last_opcode_pos == (int)fd->byte_code.size - 1 &&
                                       fd->byte_code.buf[fd->last_opcode_pos] == OP_drop;
        if (!has_using && fd->scopes[fd->body_scope].has_using) {
            has_using = true;
            push_break_entry(fd, &using_entry, JS_ATOM_NULL, -1, -1, 1);
            using_entry.has_using = true;
            using_entry.using_scope_level = fd->body_scope;
        }
    }
    outline->entry = only_declares ? declared_entry(s->ctx, fd) : NULL;

    if (!has_using) {
        if (js_is_live_code(s)) emit_return(s, false);
        return 0;
    }
    int label_catch = fd->scopes[fd->body_scope].using_label_catch;
    int label_end = fd->scopes[fd->body_scope].using_label_end;
    pop_break_entry(fd);
    if (js_is_live_code(s)) {
        emit_op(s, OP_drop);
        emit_op(s, OP_using_dispose_init);
        emit_op(s, OP_dispose_scope);
        emit_u16(s, fd->body_scope);
        emit_op(s, OP_using_dispose_end);
        emit_return(s, false);
    }
    emit_label(s, label_catch);
    emit_op(s, OP_dispose_scope);
    emit_u16(s, fd->body_scope);
    emit_op(s, OP_throw);
    emit_label(s, label_end);
    return 0;
}

// The parser's messages for a token that is missing or empty. They say nothing where the text is simply over.
static bool misses_token(const char *message) {
    size_t length = strlen(message);
    return !strcmp(message, "Unexpected end of input") || !strncmp(message, "expecting ", 10) ||
           (length > 2 && !strcmp(message + length - 2, "''"));
}

static void name_the_end(JSContext *ctx, JSValueConst error) {
    JSValue message = JS_GetProperty(ctx, error, JS_ATOM_message);
    const char *text = JS_ToCString(ctx, message);
    if (text && misses_token(text))
        JS_DefinePropertyValue(ctx, error, JS_ATOM_message, js_new_string8(ctx, "unexpected end of the program"),
                               JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    JS_FreeCString(ctx, text);
    JS_FreeValue(ctx, message);
}

// Gives a parse error its place. The parser has none for a regular expression, and at the end of the text its own is
// behind the line break that was added there.
static void name_place(JSParseState *s) {
    JSValue error = JS_GetException(s->ctx);
    const uint8_t *at = s->token.ptr, *line_start = s->token.line_start;
    int line = s->token.line_num;
    if (s->token.val == TOK_EOF) {
        at = line_start = s->buf_end - 1;
        while (line_start > s->buf_start && line_start[-1] != '\n') line_start--;
        line--;
    }
    if (JS_IsError(error)) {
        if (s->token.val == TOK_EOF) name_the_end(s->ctx, error);
        // A stack that is there already would be kept.
        set_value(s->ctx, &JS_VALUE_GET_OBJ(error)->u.object_data, JS_UNDEFINED);
        build_backtrace(s->ctx, error, JS_UNDEFINED, PROGRAM_FILE, line, (int)(at - line_start) + 1, 0);
    }
    JS_Throw(s->ctx, error);
}

JSValue compile_program(JSContext *ctx, const char *text, size_t length, Outline *outline) {
    JSParseState state, *s = &state;
    *outline = (Outline){0};
    JS_FreeValue(ctx, ctx->error_back_trace);
    ctx->error_back_trace = JS_UNDEFINED;
    js_parse_init(ctx, s, text, length, PROGRAM_FILE, 1);
    skip_shebang(&s->buf_ptr, s->buf_end);

    JSFunctionDef *fd = js_new_function_def(ctx, NULL, false, false, PROGRAM_FILE, 1, 1);
    if (!fd) return JS_EXCEPTION;
    s->cur_func = fd;
    fd->func_name = JS_NewAtom(ctx, "<program>");
    fd->func_kind = JS_FUNC_ASYNC;
    fd->func_type = JS_PARSE_FUNC_EXPR;
    fd->is_strict_mode = true;
    fd->has_arguments_binding = true;
    fd->has_this_binding = true;
    fd->new_target_allowed = true;
    fd->arguments_allowed = true;
    fd->has_simple_parameter_list = true;
    fd->in_function_body = true;
    push_scope(s);
    fd->body_scope = fd->scope_level;

    if (next_token(s) || js_parse_directives(s) || parse_statements(s, outline)) {
        name_place(s);
        free_token(s, &s->token);
        js_free_function_def(ctx, fd);
        return JS_EXCEPTION;
    }
    JSValue code = js_create_function(ctx, fd);
    return JS_IsException(code) ? code : js_closure(ctx, code, NULL, NULL);
}

void seed_random(JSContext *ctx, uint64_t seed) {
    ctx->random_state = seed ? seed : 1;
    ctx->hash_seed = (uint32_t)xorshift64star(&ctx->random_state);
}

// --- strings and keys -----------------------------------------------------------------------------------------------

bool string_view(JSContext *ctx, JSValueConst string, StringView *view) {
    JSValue flat = JS_VALUE_GET_TAG(string) == JS_TAG_STRING_ROPE ? js_linearize_string_rope(ctx, string)
                                                                  : js_dup(string);
    if (JS_IsException(flat)) return false;
    JSString *p = JS_VALUE_GET_STRING(flat);
    *view = (StringView){p->is_wide_char ? NULL : str8(p), p->is_wide_char ? str16(p) : NULL, p->len, flat};
    return true;
}

void view_free(JSContext *ctx, StringView *view) {
    JS_FreeValue(ctx, view->owner);
}

JSAtom key_from_utf8(JSContext *ctx, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if ((signed char)bytes[i] >= 0) continue;
        JSValue string = JS_NewStringLen(ctx, bytes, length);
        if (JS_IsException(string)) return JS_ATOM_NULL;
        JSAtom key = JS_ValueToAtom(ctx, string);
        JS_FreeValue(ctx, string);
        return key;
    }
    return JS_NewAtomLen(ctx, bytes, length);
}

// --- objects --------------------------------------------------------------------------------------------------------

bool property_add(JSContext *ctx, JSValueConst plain_object, JSAtom key, JSValue value) {
    JSObject *p = JS_VALUE_GET_OBJ(plain_object);
    JSProperty *property;
    if (find_own_property(&property, p, key)) {
        set_value(ctx, &property->u.value, value);
        return true;
    }
    property = add_property(ctx, p, key, JS_PROP_C_W_E);
    if (!property) {
        JS_FreeValue(ctx, value);
        return false;
    }
    property->u.value = value;
    return true;
}

Kind object_kind(JSContext *ctx, JSValueConst object) {
    JSObject *p = JS_VALUE_GET_OBJ(object);
    switch (p->class_id) {
    case JS_CLASS_OBJECT: case JS_CLASS_ARGUMENTS: case JS_CLASS_MAPPED_ARGUMENTS:
        return KIND_PLAIN;
    case JS_CLASS_ARRAY:
        return KIND_ARRAY;
    case JS_CLASS_NUMBER: case JS_CLASS_STRING: case JS_CLASS_BOOLEAN: case JS_CLASS_BIG_INT:
        return KIND_BOXED;
    case JS_CLASS_RAWJSON:
        return KIND_RAW_JSON;
    case JS_CLASS_DATE:
        return KIND_DATE;
    case JS_CLASS_ERROR: case JS_CLASS_DOM_EXCEPTION:
        return KIND_ERROR;
    case JS_CLASS_PROMISE:
        return KIND_PROMISE;
    case JS_CLASS_MAP:
        return KIND_MAP;
    case JS_CLASS_SET:
        return KIND_SET;
    case JS_CLASS_REGEXP:
        return KIND_REGEXP;
    case JS_CLASS_ARRAY_BUFFER: case JS_CLASS_SHARED_ARRAY_BUFFER: case JS_CLASS_DATAVIEW:
        return KIND_BYTES;
    case JS_CLASS_PROXY:
        return JS_IsFunction(ctx, object) ? KIND_FUNCTION : KIND_PROXY;
    default:
        if (is_typed_array(p->class_id)) return KIND_TYPED_ARRAY;
        return JS_IsFunction(ctx, object) ? KIND_FUNCTION : KIND_OTHER;
    }
}

JSValue unbox(JSContext *ctx, JSValueConst object) {
    (void)ctx;
    return js_dup(JS_VALUE_GET_OBJ(object)->u.object_data);
}

int is_array(JSContext *ctx, JSValueConst value) {
    return js_is_array(ctx, value);
}

bool next_entry(JSValueConst map_or_set, void **cursor, JSValue *key, JSValue *value) {
    JSMapState *state = JS_VALUE_GET_OBJ(map_or_set)->u.map_state;
    struct list_head *at = *cursor ? *cursor : &state->records;
    while ((at = at->next) != &state->records) {
        JSMapRecord *record = list_entry(at, JSMapRecord, link);
        if (record->empty) continue;
        *cursor = at;
        *key = record->key;
        *value = record->value;
        return true;
    }
    return false;
}

uint32_t entry_count(JSValueConst map_or_set) {
    return JS_VALUE_GET_OBJ(map_or_set)->u.map_state->record_count;
}

uint32_t array_length(JSValueConst array, bool *only_elements) {
    JSObject *p = JS_VALUE_GET_OBJ(array);
    bool real = p->class_id == JS_CLASS_ARRAY;
    *only_elements = p->fast_array && p->shape->prop_count == (real ? 1 : 0);
    if (!real) return p->u.array.count;
    JSValueConst length = p->prop[0].u.value;
    return JS_VALUE_GET_TAG(length) == JS_TAG_INT ? (uint32_t)JS_VALUE_GET_INT(length)
                                                  : (uint32_t)JS_VALUE_GET_FLOAT64(length);
}

JSValue regexp_text(JSContext *ctx, JSValueConst regexp) {
    static const struct { int flag; char letter; } letters[] = {
        {LRE_FLAG_INDICES, 'd'}, {LRE_FLAG_GLOBAL, 'g'}, {LRE_FLAG_IGNORECASE, 'i'}, {LRE_FLAG_MULTILINE, 'm'},
        {LRE_FLAG_DOTALL, 's'}, {LRE_FLAG_UNICODE, 'u'}, {LRE_FLAG_UNICODE_SETS, 'v'}, {LRE_FLAG_STICKY, 'y'},
    };
    JSRegExp *re = &JS_VALUE_GET_OBJ(regexp)->u.regexp;
    int flags = lre_get_flags(str8(re->bytecode));
    char tail[2 + countof(letters)] = "/";
    for (size_t i = 0, at = 1; i < countof(letters); i++)
        if (flags & letters[i].flag) tail[at++] = letters[i].letter;
    return JS_ConcatString3(ctx, "/", js_dup(JS_MKPTR(JS_TAG_STRING, re->pattern)), tail);
}

JSValue date_text(JSContext *ctx, JSValueConst date) {
    return isnan(JS_VALUE_GET_FLOAT64(JS_VALUE_GET_OBJ(date)->u.object_data))
        ? JS_NULL : get_date_string(ctx, date, 0, NULL, 0x23);
}

JSValue bigint_from_digits(JSContext *ctx, const char *zero_terminated) {
    JSBigInt *big = js_bigint_from_string(ctx, zero_terminated, 10);
    return big ? JS_CompactBigInt(ctx, big) : JS_EXCEPTION;
}

// --- promises -------------------------------------------------------------------------------------------------------

JSValue promise_new(JSContext *ctx) {
    JSValue promise = JS_NewObjectClass(ctx, JS_CLASS_PROMISE);
    if (JS_IsException(promise)) return promise;
    JSPromiseData *data = js_mallocz(ctx, sizeof *data);
    if (!data) {
        JS_FreeValue(ctx, promise);
        return JS_EXCEPTION;
    }
    init_list_head(&data->promise_reactions[0]);
    init_list_head(&data->promise_reactions[1]);
    data->promise_result = JS_UNDEFINED;
    JS_SetOpaqueInternal(promise, data);
    return promise;
}

void promise_settle(JSContext *ctx, JSValueConst promise, JSValueConst value, bool rejected) {
    fulfill_or_reject_promise(ctx, promise, value, rejected);
}

// --- errors ---------------------------------------------------------------------------------------------------------

void call_site_take(JSContext *ctx, CallSite *site) {
    site->count = 0;
    for (JSStackFrame *frame = ctx->rt->current_stack_frame; frame; frame = frame->prev_frame) {
        if (site->count == CALL_SITE_FRAMES) break;
        if (JS_VALUE_GET_TAG(frame->cur_func) != JS_TAG_OBJECT) continue;
        JSObject *function = JS_VALUE_GET_OBJ(frame->cur_func);
        if (!js_class_has_bytecode(function->class_id) || !frame->cur_pc) continue;
        site->position[site->count] = frame->cur_pc - function->u.func.function_bytecode->byte_code_buf - 1;
        site->function[site->count++] = js_dup(frame->cur_func);
    }
}

JSValue call_site_stack(JSContext *ctx, const CallSite *site) {
    DynBuf text;
    js_dbuf_init(ctx, &text);
    for (uint32_t i = 0; i < site->count; i++) {
        JSFunctionBytecode *code = JS_VALUE_GET_OBJ(site->function[i])->u.func.function_bytecode;
        int column, line = find_line_num(ctx, code, site->position[i], &column);
        const char *name = get_func_name(ctx, site->function[i]);
        const char *file = code->filename ? JS_AtomToCString(ctx, code->filename) : NULL;
        dbuf_printf(&text, "    at %s (%s:%d:%d)\n", name && *name ? name : "<anonymous>", file ? file : "<unknown>",
                    line, column);
        JS_FreeCString(ctx, name);
        JS_FreeCString(ctx, file);
    }
    JSValue stack = dbuf_error(&text) ? JS_ThrowOutOfMemory(ctx) : JS_NewStringLen(ctx, (char *)text.buf, text.size);
    dbuf_free(&text);
    return stack;
}

void call_site_free(JSContext *ctx, CallSite *site) {
    for (uint32_t i = 0; i < site->count; i++) JS_FreeValue(ctx, site->function[i]);
    site->count = 0;
}

JSValue error_stack(JSContext *ctx, JSValueConst error) {
    (void)ctx;
    JSObject *p = JS_VALUE_GET_OBJ(error);
    JSProperty *property;
    JSShapeProperty *shape = find_own_property(&property, p, JS_ATOM_stack);
    if (shape && (shape->flags & JS_PROP_TMASK) == JS_PROP_NORMAL) return js_dup(property->u.value);
    return p->class_id == JS_CLASS_ERROR ? js_dup(p->u.object_data) : JS_UNDEFINED;
}

JSValue error_new(JSContext *ctx, JSValueConst prototype, JSValueConst message, JSValueConst stack) {
    JSValue error = JS_NewObjectProtoClass(ctx, prototype, JS_CLASS_ERROR);
    if (JS_IsException(error)) return error;
    JS_VALUE_GET_OBJ(error)->u.object_data = js_dup(stack);
    if (JS_DefinePropertyValue(ctx, error, JS_ATOM_message, js_dup(message),
                               JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE) < 0) {
        JS_FreeValue(ctx, error);
        return JS_EXCEPTION;
    }
    return error;
}
