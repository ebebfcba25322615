import GRDB
import GRDBSQLite
import ODataModel

/// Writes stored values as JSON. Values of common codecs are written without decoding.
struct StoredValueWriter {
    let model: EntityDataModel
    let isIEEE754Compatible: Bool

    /// Writes the value of a column that is not NULL.
    ///
    /// - Throws: ``StoredValueError`` with table, column and row if the content does not match the codec.
    func write(
        _ slot: ResultPlan.Slot, _ row: StoredRow, plan: ResultPlan, to writer: inout JSONWriter
    ) throws {
        let index = slot.index
        switch (slot.storage.codec, row.kind(index)) {
        case (.string, SQLITE_TEXT): row.withText(index) { writer.string(utf8: $0) }
        case (.integer, SQLITE_INTEGER):
            if case .enumeration = slot.storage.type { break }
            if isIEEE754Compatible, slot.storage.type.primitive == .int64 { break }
            return writer.integer(row.integer(index))
        case (.boolean, SQLITE_INTEGER):
            let number = row.integer(index)
            guard number == 0 || number == 1 else { break }
            return writer.boolean(number == 1)
        case (.double, SQLITE_FLOAT): return writer.double(row.double(index))
        case (.single, SQLITE_FLOAT): return writer.single(Float(row.double(index)))
        case (.scaledDecimal(let scale), SQLITE_INTEGER):
            return writeScaled(row.integer(index), scale: scale, to: &writer)
        case (.numericDecimal, SQLITE_INTEGER) where !isIEEE754Compatible: return writer.integer(row.integer(index))
        case (.guid, SQLITE_BLOB):
            let isWritten = row.withBlob(index) { bytes in
                guard bytes.count == 16 else { return false }
                writeGuid(bytes, to: &writer)
                return true
            }
            if isWritten { return }
        case (.date, SQLITE_INTEGER):
            let days = row.integer(index)
            guard Self.writtenDays.contains(days) else { break }
            return writeDate(days, to: &writer)
        case (.json, SQLITE_TEXT):
            guard isCopied(slot.storage.type) else { break }
            return row.withText(index) { writer.raw($0) }
        default: break
        }
        if slot.storage.codec == .string, row.kind(index) == SQLITE_TEXT { return }
        let value = try row.decode(slot, plan, model: model)
        writer.value(value, type: slot.storage.type, model: model, isIEEE754Compatible: isIEEE754Compatible)
    }

    /// Returns whether stored JSON of a type can be copied to responses. Stored decimals are strings, stored
    /// enumerations are numbers, and some responses contain 64-bit integers as strings.
    private func isCopied(_ type: TypeReference) -> Bool {
        switch type.element {
        case .primitive(let primitive), .typeDefinition(_, let primitive):
            primitive != .decimal && (primitive != .int64 || !isIEEE754Compatible)
        default: false
        }
    }

    /// Writes a scaled integer as a decimal. Trailing zeros are omitted, because they come from the column's scale
    /// and not from the value.
    func writeScaled(_ stored: Int64, scale stated: Int, to writer: inout JSONWriter) {
        var (number, scale) = (stored, stated)
        while scale > 0, number % 10 == 0 { (number, scale) = (number / 10, scale - 1) }
        guard scale > 0, scale < 19 else {
            let value = ODataDecimal(isNegative: number < 0, magnitude: UInt128(number.magnitude), scale: scale)
            return writer.value(
                value.map { .decimal($0) } ?? .null, type: .primitive(.decimal), model: model,
                isIEEE754Compatible: isIEEE754Compatible)
        }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { buffer in
            var position = 32
            var magnitude = number.magnitude
            var digits = 0
            while magnitude > 0 || digits <= scale {
                if digits == scale {
                    position -= 1
                    buffer[position] = UInt8(ascii: ".")
                }
                position -= 1
                buffer[position] = UInt8(magnitude % 10) + 48
                magnitude /= 10
                digits += 1
            }
            if number < 0 {
                position -= 1
                buffer[position] = UInt8(ascii: "-")
            }
            let text = UnsafeBufferPointer(rebasing: buffer[position...])
            if isIEEE754Compatible { writer.string(utf8: text) } else { writer.raw(text) }
        }
    }

    func writeGuid(_ bytes: UnsafeRawBufferPointer, to writer: inout JSONWriter) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { buffer in
            var position = 0
            for (index, byte) in bytes.enumerated() {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    buffer[position] = UInt8(ascii: "-")
                    position += 1
                }
                buffer[position] = Self.digit(byte >> 4)
                buffer[position + 1] = Self.digit(byte & 15)
                position += 2
            }
            writer.string(utf8: UnsafeBufferPointer(buffer))
        }
    }

    /// The days since 1970-01-01 of the years 1 to 9999.
    static let writtenDays: ClosedRange<Int64> = -719_162...2_932_896

    /// Writes the text of a date and a time with the separator `T` and the suffix `Z`.
    func writeInstant(_ text: UnsafeBufferPointer<UInt8>, to writer: inout JSONWriter) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { buffer in
            for index in 0..<19 { buffer[index] = text[index] }
            buffer[10] = UInt8(ascii: "T")
            buffer[19] = UInt8(ascii: "Z")
            writer.string(utf8: UnsafeBufferPointer(buffer))
        }
    }

    /// Writes a date as `YYYY-MM-DD`.
    func writeDate(_ days: Int64, to writer: inout JSONWriter) {
        let (year, month, day) = ODataDate(daysSinceEpoch: days).components
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 10) { buffer in
            for (index, divisor) in [1000, 100, 10, 1].enumerated() {
                buffer[index] = UInt8(truncatingIfNeeded: year / divisor % 10) + 48
            }
            buffer[4] = UInt8(ascii: "-")
            buffer[5] = UInt8(truncatingIfNeeded: month / 10) + 48
            buffer[6] = UInt8(truncatingIfNeeded: month % 10) + 48
            buffer[7] = UInt8(ascii: "-")
            buffer[8] = UInt8(truncatingIfNeeded: day / 10) + 48
            buffer[9] = UInt8(truncatingIfNeeded: day % 10) + 48
            writer.string(utf8: UnsafeBufferPointer(buffer))
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }
}
