#include "CSimdjson.h"

#include <simdjson.h>

#include <string_view>

using namespace simdjson;

struct sj_reader {
    ondemand::parser parser;
    ondemand::document document;
    ondemand::array array;
    ondemand::array_iterator position;
    ondemand::array_iterator end;
    bool isStarted = false;
};

sj_reader *sj_open(const char *text, size_t count, size_t capacity) {
    auto reader = new sj_reader;
    if (reader->parser.iterate(text, count, capacity).get(reader->document) == SUCCESS
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

/// The digits of a number, since a decimal must not pass through binary64.
static inline sj_text digits(ondemand::value value) {
    auto token = value.raw_json_token();
    size_t count = token.size();
    while (count > 0 && (unsigned char)token[count - 1] <= ' ') count--;
    return {token.data(), count};
}

int sj_next(sj_reader *reader, sj_order *order) {
    if (reader->isStarted) ++reader->position;
    reader->isStarted = true;
    if (!(reader->position != reader->end)) return 0;
    ondemand::object object;
    if ((*reader->position).get_object().get(object)) return -1;
    *order = {};
    // Members may stand in any order: one pass over them, told apart by length and first letter.
    for (auto member : object) {
        ondemand::field field;
        if (std::move(member).get(field)) return -1;
        std::string_view key;
        if (field.unescaped_key().get(key)) return -1;
        ondemand::value value = field.value();
        error_code error = SUCCESS;
        if (key == "OrderID") error = value.get_int64().get(order->orderID);
        else if (key == "CustomerID") order->customerID = text(value, error);
        else if (key == "EmployeeID") {
            bool isNull = false;
            error = value.is_null().get(isNull);
            if (!error && !isNull) {
                order->hasEmployeeID = true;
                error = value.get_int64().get(order->employeeID);
            }
        } else if (key == "OrderDate") order->orderDate = text(value, error);
        else if (key == "RequiredDate") order->requiredDate = text(value, error);
        else if (key == "ShippedDate") order->shippedDate = text(value, error);
        else if (key == "Freight") order->freight = digits(value);
        else if (key == "Discount") {
            bool isNull = false;
            error = value.is_null().get(isNull);
            if (!error && !isNull) {
                order->hasDiscount = true;
                error = value.get_double().get(order->discount);
            }
        } else if (key == "ShipName") order->shipName = text(value, error);
        else if (key == "ShipAddress") order->shipAddress = text(value, error);
        else if (key == "Comment") order->comment = text(value, error);
        else if (key == "IsPaid") error = value.get_bool().get(order->isPaid);
        else if (key == "Tag") order->tag = text(value, error);
        if (error) return -1;
    }
    return 1;
}

void sj_close(sj_reader *reader) { delete reader; }
