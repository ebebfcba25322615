#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Characters within the parser's memory; no characters and no pointer for null.
typedef struct {
    const char *_Nullable start;
    size_t count;
} sj_text;

/// One order: every value as simdjson gives it without losing any of it.
typedef struct {
    int64_t orderID;
    int64_t employeeID;
    bool hasEmployeeID;
    bool isPaid;
    bool hasDiscount;
    double discount;
    /// The digits without sign and point; meaningless where the text stands.
    uint64_t freightDigits;
    /// How many of them stand to the right of the point.
    int32_t freightScale;
    bool freightIsNegative;
    /// What has an exponent or more than 19 digits.
    sj_text freightText;
    sj_text customerID, orderDate, requiredDate, shippedDate, shipName, shipAddress, comment, tag;
} sj_order;

typedef struct sj_parser sj_parser;
typedef struct sj_reader sj_reader;

/// Makes a parser, which keeps its memory from one text to the next.
sj_parser *_Nonnull sj_new_parser(void);
void sj_delete_parser(sj_parser *_Nonnull parser);

/// Makes a reader over a text that is followed by at least 64 readable bytes; `NULL` when it is no collection. One parser has
/// one reader at a time.
sj_reader *_Nullable sj_open(
    sj_parser *_Nonnull parser, const char *_Nonnull text, size_t count, size_t capacity);
/// Reads the next order: 1, or 0 at the end, or -1 for an error.
int sj_next(sj_reader *_Nonnull reader, sj_order *_Nonnull order);
void sj_close(sj_reader *_Nonnull reader);

#ifdef __cplusplus
}
#endif
