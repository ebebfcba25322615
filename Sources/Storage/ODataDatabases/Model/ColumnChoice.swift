import ODataModel
import ODataSQL

/// The type and codec of a served column: the declared type if all values have it, otherwise a wider one.
///
/// | declared | when the values are | served as |
/// |---|---|---|
/// | integer | INTEGER | `Edm.Int64` |
/// | | INTEGER and REAL | `Edm.Double`; `Edm.Decimal` when an integer is beyond 2^53 |
/// | boolean | INTEGER 0 and 1 | `Edm.Boolean`; other INTEGER: `Edm.Int64` |
/// | decimal | INTEGER, finite REAL, numeric TEXT | `Edm.Decimal` of any scale, regardless of the declared one |
/// | floating point | INTEGER, REAL | `Edm.Double` |
/// | date, date and time | `YYYY-MM-DD` | `Edm.Date` |
/// | | one form of date and time: separator, fractional digits, `Z` or none | `Edm.DateTimeOffset` in UTC |
/// | | INTEGER | `Edm.DateTimeOffset`; the greatest value determines the unit (s, ms, µs, ns) |
/// | time | `hh:mm[:ss[.f]]` | `Edm.TimeOfDay` |
/// | GUID | text, or BLOBs of 16 bytes | `Edm.Guid` |
/// | binary | BLOB | `Edm.Binary` |
/// | string | any, except BLOBs that are not UTF-8 | `Edm.String`, with the declared length if all values fit |
/// | unknown | INTEGER; numbers; BLOB; other | `Edm.Int64`; `Edm.Double`; `Edm.Binary`; `Edm.String` |
///
/// Values of other storage classes in a string column are served and compared as text: that of the number, or
/// the UTF-8 text of the bytes (``ColumnCodec/anyText(_:)``).
///
/// Columns that match no row are served as `Edm.String`, with a warning. A column with both texts and BLOBs
/// that are not text has no common type and is omitted, with a warning. A column without values is served as
/// declared. Its dates are then written as `YYYY-MM-DD`, its dates and times as `YYYY-MM-DD hh:mm:ss`.
struct ColumnChoice {
    var type: PrimitiveType
    var codec: ColumnCodec
    var facets = Facets()
    /// The difference from the declaration, as the end of a sentence; `nil` if there is none.
    var warning: String?

    /// Returns the choice for a column; `nil` if no type can represent all values.
    ///
    /// - Parameter isOfView: whether the column belongs to a view, whose values can have any storage class
    ///   regardless of the declaration.
    static func choose(_ declared: DeclaredType, _ probe: ColumnProbe, isOfView: Bool) -> ColumnChoice? {
        guard var choice = chosen(declared, probe) else { return nil }
        // Other programs can store any value in a column without text affinity.
        if choice.type == .string, isOfView || declared.affinity != .text || probe.blobs > 0 {
            choice.codec = .anyText(isOfView ? .none : declared.affinity)
        }
        return choice
    }

    private static func chosen(_ declared: DeclaredType, _ probe: ColumnProbe) -> ColumnChoice? {
        if let choice = asDeclared(declared, probe) { return choice }
        let found = description(of: probe)
        if let wider = wider(declared, probe) {
            var wider = wider
            wider.warning = "holds \(found); it is served as \(wider.type.rawValue)"
            return wider
        }
        let hasOtherBytes = probe.forms[.bytes] != nil || probe.forms[.bytes16] != nil
        guard !hasOtherBytes else { return nil }
        // A column without a declared type may contain text without a warning.
        let isPlain = declared.kind == .unknown && probe.integers + probe.reals + probe.blobs == 0
        let warning = isPlain ? nil : "holds \(found); it is served as \(PrimitiveType.string.rawValue)"
        return ColumnChoice(type: .string, codec: .string, warning: warning)
    }

    private static func asDeclared(_ declared: DeclaredType, _ probe: ColumnProbe) -> ColumnChoice? {
        let numbersOnly = probe.texts + probe.blobs == 0
        switch declared.kind {
        case .integer:
            return numbersOnly && probe.reals == 0 ? ColumnChoice(type: .int64, codec: .integer) : nil
        case .boolean:
            let fits =
                numbersOnly && probe.reals == 0
                && (probe.range.map { 0 <= $0.lowerBound && $0.upperBound <= 1 } ?? true)
            return fits ? ColumnChoice(type: .boolean, codec: .boolean) : nil
        case .double: return numbersOnly ? ColumnChoice(type: .double, codec: .double) : nil
        case .decimal: return decimal(probe)
        case .date, .dateTime, .time: return temporal(declared.kind, probe)
        case .guid:
            if probe.isEmpty || probe.consists(of: [.guid]) { return ColumnChoice(type: .guid, codec: .guidText) }
            let areBytes = probe.consists(of: [.bytes16, .textBytes16])
            return areBytes ? ColumnChoice(type: .guid, codec: .guid) : nil
        case .string:
            guard probe.forms[.bytes] == nil, probe.forms[.bytes16] == nil else { return nil }
            var choice = ColumnChoice(type: .string, codec: .string)
            if let length = declared.size, length > 0 {
                if probe.maxLength <= length {
                    choice.facets.maxLength = length
                } else {
                    choice.warning =
                        "holds texts of up to \(probe.maxLength) characters; its length of \(length) is not stated"
                }
            }
            return choice
        case .binary:
            return probe.integers + probe.reals + probe.texts == 0 ? ColumnChoice(type: .binary, codec: .binary) : nil
        case .unknown:
            if probe.isEmpty { return ColumnChoice(type: .string, codec: .string) }
            if probe.integers + probe.reals + probe.texts == 0 { return ColumnChoice(type: .binary, codec: .binary) }
            return numbersOnly && probe.reals == 0
                ? ColumnChoice(type: .int64, codec: .integer) : numbersOnly ? numbers(probe) : nil
        }
    }

    /// Returns a choice with a type that represents all values but is not the declared one.
    private static func wider(_ declared: DeclaredType, _ probe: ColumnProbe) -> ColumnChoice? {
        guard probe.texts + probe.blobs == 0 else { return nil }
        switch declared.kind {
        case .integer, .boolean, .time, .date, .dateTime:
            return probe.reals == 0 ? ColumnChoice(type: .int64, codec: .integer) : numbers(probe)
        case .decimal: return ColumnChoice(type: .double, codec: .double)
        default: return nil
        }
    }

    /// Returns the choice for integers and reals: binary64, unless an integer exceeds its precision.
    private static func numbers(_ probe: ColumnProbe) -> ColumnChoice? {
        guard let range = probe.range, range.lowerBound < -(1 << 53) || range.upperBound > 1 << 53 else {
            return ColumnChoice(type: .double, codec: .double)
        }
        guard probe.forms[.infinity] == nil else { return nil }
        return ColumnChoice(type: .decimal, codec: .numericDecimal, facets: Facets(scale: .variable))
    }

    private static func decimal(_ probe: ColumnProbe) -> ColumnChoice? {
        let needed = probe.texts + probe.blobs + probe.reals > 0
        guard !needed || probe.consists(of: [.integer, .real, .number]) else { return nil }
        // SQLite does not enforce precision and scale, and other programs can store a sum such as 4.140000000000001
        // in a DECIMAL(8,2) column. With a stated scale, clients would refuse such rows later.
        return ColumnChoice(type: .decimal, codec: .numericDecimal, facets: Facets(scale: .variable))
    }

    private static func temporal(_ kind: DeclaredType.Kind, _ probe: ColumnProbe) -> ColumnChoice? {
        if probe.isEmpty {
            switch kind {
            case .date: return ColumnChoice(type: .date, codec: .dateText)
            case .time: return ColumnChoice(type: .timeOfDay, codec: .timeText)
            default: return dateTime(.init(separator: " ", fractionDigits: 0, suffix: ""))
            }
        }
        if probe.texts + probe.blobs + probe.reals == 0 {
            guard kind != .time, let range = probe.range else { return nil }
            return ColumnChoice(
                type: .dateTimeOffset, codec: .unixTime(unitsPerSecond: unit(of: range)),
                facets: Facets(precision: digits(of: unit(of: range))))
        }
        if probe.consists(of: [.date]) { return ColumnChoice(type: .date, codec: .dateText) }
        if probe.consists(of: [.time]) { return ColumnChoice(type: .timeOfDay, codec: .timeText) }
        if probe.forms.count == 1, case .dateTime(let form)? = probe.forms.keys.first { return dateTime(form) }
        return nil
    }

    private static func dateTime(_ form: ColumnCodec.DateTimeTextForm) -> ColumnChoice {
        ColumnChoice(
            type: .dateTimeOffset, codec: .dateTimeText(form), facets: Facets(precision: form.fractionDigits))
    }

    /// Returns the number of units per second. Seconds stay below 10^11 until the year 5138; greater values are
    /// milliseconds, and so on.
    private static func unit(of range: ClosedRange<Int64>) -> Int {
        let greatest = max(range.upperBound.magnitude, range.lowerBound.magnitude)
        if greatest < 100_000_000_000 { return 1 }
        if greatest < 100_000_000_000_000 { return 1000 }
        return greatest < 100_000_000_000_000_000 ? 1_000_000 : 1_000_000_000
    }

    private static func digits(of unit: Int) -> Int { unit == 1 ? 0 : unit == 1000 ? 3 : unit == 1_000_000 ? 6 : 9 }

    /// Returns the kinds of values in a column for a warning, with their numbers and examples.
    static func description(of probe: ColumnProbe) -> String {
        if probe.forms.isEmpty {
            let parts = [
                (probe.integers, "whole numbers"), (probe.reals, "numbers with a fraction"), (probe.texts, "texts"),
                (probe.blobs, "byte strings"),
            ]
            return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        }
        return probe.forms.sorted { ($1.value, $0.key.code) < ($0.value, $1.key.code) }.map { form, count in
            "\(count) \(form.description) (\(probe.examples[form] ?? ""))"
        }.joined(separator: ", ")
    }
}

extension ColumnProbe {
    /// Returns whether all values have one of the forms.
    func consists(of allowed: Set<WrittenForm>) -> Bool {
        !forms.isEmpty && forms.keys.allSatisfy(allowed.contains)
    }
}
