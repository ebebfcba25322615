#include "CSimdjson.h"

#include <simdjson.h>

#include <string_view>

using namespace simdjson;

struct sj_parser {
    ondemand::parser parser;
};

struct sj_reader {
    ondemand::document document;
    ondemand::array array;
    ondemand::array_iterator position;
    ondemand::array_iterator end;
    bool isStarted = false;
};

sj_parser *sj_new_parser(void) { return new sj_parser; }

void sj_delete_parser(sj_parser *parser) { delete parser; }

sj_reader *sj_open(sj_parser *parser, const char *text, size_t count, size_t capacity) {
    auto reader = new sj_reader;
    if (parser->parser.iterate(text, count, capacity).get(reader->document) == SUCCESS
        && reader->document["value"].get_array().get(reader->array) == SUCCESS
        && reader->array.begin().get(reader->position) == SUCCESS
        && reader->array.end().get(reader->end) == SUCCESS) {
        return reader;
    }
    delete reader;
    return nullptr;
}

static inline sj_text text(ondemand::value value, error_code &error) {
    bool isNull = false;
    if ((error = value.is_null().get(isNull)) || isNull) return {nullptr, 0};
    std::string_view view;
    error = value.get_string().get(view);
    return {view.data(), view.size()};
}

static inline bool isDigit(char character) { return (unsigned char)(character - '0') < 10; }

/// A decimal as digits and scale, since it must not pass through binary64; what 64 bits cannot hold stays text.
static inline error_code freight(ondemand::value value, sj_order *order) {
    auto token = value.raw_json_token();
    const char *at = token.data(), *end = at + token.size();
    while (end > at && (unsigned char)end[-1] <= ' ') end--;
    // What follows the text can be read: no digit needs a look at the end.
    order->freightIsNegative = *at == '-';
    if (order->freightIsNegative) at++;
    uint64_t digits = 0;
    const char *first = at;
    for (; isDigit(*at); at++) digits = digits * 10 + (uint64_t)(*at - '0');
    auto count = at - first;
    if (count == 0 || (count > 1 && *first == '0')) return NUMBER_ERROR;
    if (*at == '.') {
        const char *fraction = ++at;
        for (; isDigit(*at); at++) digits = digits * 10 + (uint64_t)(*at - '0');
        order->freightScale = (int32_t)(at - fraction);
        if (order->freightScale == 0) return NUMBER_ERROR;
        count += order->freightScale;
    }
    order->freightDigits = digits;
    if (count > 19 || (*at | 0x20) == 'e') {
        order->freightText = {token.data(), (size_t)(end - token.data())};
    } else if (at != end) {
        return NUMBER_ERROR;
    }
    return SUCCESS;
}

static constexpr int fieldCount = 13;

static inline int following(int field) { return field + 1 == fieldCount ? 0 : field + 1; }

/// Reads a member if it has the name of a field, which is compared as it stands in the text.
static inline bool take(
    int field, ondemand::raw_json_string key, ondemand::value value, sj_order *order, error_code &error) {
    bool isNull = false;
    switch (field) {
    case 0:
        if (!(key == "OrderID")) return false;
        error = value.get_int64().get(order->orderID);
        return true;
    case 1:
        if (!(key == "CustomerID")) return false;
        order->customerID = text(value, error);
        return true;
    case 2:
        if (!(key == "EmployeeID")) return false;
        error = value.is_null().get(isNull);
        if (!error && !isNull) {
            order->hasEmployeeID = true;
            error = value.get_int64().get(order->employeeID);
        }
        return true;
    case 3:
        if (!(key == "OrderDate")) return false;
        order->orderDate = text(value, error);
        return true;
    case 4:
        if (!(key == "RequiredDate")) return false;
        order->requiredDate = text(value, error);
        return true;
    case 5:
        if (!(key == "ShippedDate")) return false;
        order->shippedDate = text(value, error);
        return true;
    case 6:
        if (!(key == "Freight")) return false;
        error = freight(value, order);
        return true;
    case 7:
        if (!(key == "Discount")) return false;
        error = value.is_null().get(isNull);
        if (!error && !isNull) {
            order->hasDiscount = true;
            error = value.get_double().get(order->discount);
        }
        return true;
    case 8:
        if (!(key == "ShipName")) return false;
        order->shipName = text(value, error);
        return true;
    case 9:
        if (!(key == "ShipAddress")) return false;
        order->shipAddress = text(value, error);
        return true;
    case 10:
        if (!(key == "Comment")) return false;
        order->comment = text(value, error);
        return true;
    case 11:
        if (!(key == "IsPaid")) return false;
        error = value.get_bool().get(order->isPaid);
        return true;
    default:
        if (!(key == "Tag")) return false;
        order->tag = text(value, error);
        return true;
    }
}

int sj_next(sj_reader *reader, sj_order *order) {
    if (reader->isStarted) ++reader->position;
    reader->isStarted = true;
    if (!(reader->position != reader->end)) return 0;
    ondemand::object object;
    if ((*reader->position).get_object().get(object)) return -1;
    *order = {};
    // One pass over the members, in whatever order they stand. Most stand in the order of the type: the field after the
    // last one is tried first.
    int field = 0;
    for (auto member : object) {
        ondemand::field found;
        if (std::move(member).get(found)) return -1;
        error_code error = SUCCESS;
        int tried = 0;
        while (tried < fieldCount && !take(field, found.key(), found.value(), order, error)) {
            field = following(field);
            tried++;
        }
        if (error) return -1;
        if (tried < fieldCount) field = following(field);
    }
    return 1;
}

void sj_close(sj_reader *reader) { delete reader; }
