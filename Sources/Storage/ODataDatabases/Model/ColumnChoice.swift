import ODataModel
import ODataSQL

/// The type and codec of a foreign column: what is declared where all values are of it, else a wider one.
///
/// | declared | when the values are | served as |
/// |---|---|---|
/// | integer | INTEGER | `Edm.Int64` |
/// | | INTEGER and REAL | `Edm.Double`; `Edm.Decimal` when an integer is beyond 2^53 |
/// | boolean | INTEGER 0 and 1 | `Edm.Boolean`; other INTEGER: `Edm.Int64` |
/// | decimal | INTEGER, finite REAL, numeric TEXT | `Edm.Decimal` of any scale, whatever the declared one |
/// | floating point | INTEGER, REAL | `Edm.Double` |
/// | date, date and time | `YYYY-MM-DD` | `Edm.Date` |
/// | | one form of date and time: separator, fractional digits, `Z` or none | `Edm.DateTimeOffset` in UTC |
/// | | INTEGER | `Edm.DateTimeOffset`, the unit (s, ms, µs, ns) told by the greatest |
/// | time | `hh:mm[:ss[.f]]` | `Edm.TimeOfDay` |
/// | GUID | text, or BLOBs of 16 bytes | `Edm.Guid` |
/// | binary | BLOB | `Edm.Binary` |
/// | string | any but BLOBs that are no UTF-8 | `Edm.String`, its length where all fit |
/// | unknown | INTEGER; numbers; BLOB; else | `Edm.Int64`; `Edm.Double`; `Edm.Binary`; `Edm.String` |
///
/// A value of another storage class in a string column is served as the text of the number, or as the UTF-8 text of the
/// bytes, and compared as that text (``ColumnCodec/anyText(_:)``).
///
/// Whatever does not fit its row is `Edm.String`, with a warning. A column of texts and of BLOBs that are no
/// text has no type that holds both and is left out, with a warning. A column without values is served as
/// declared; dates are then written as `YYYY-MM-DD`, dates and times as `YYYY-MM-DD hh:mm:ss`.
struct ColumnChoice {
    /// The type of the property.
    var type: PrimitiveType
    /// How values are written.
    var codec: ColumnCodec
    /// The facets of the property.
    var facets = Facets()
    /// What is not as declared, the beginning of a sentence cut off; `nil` when all is.
    var warning: String?

    /// Chooses; `nil` in place of a choice when no type holds all values.
    ///
    /// - Parameter isOfView: whether the column is one of a view, whose values are of any storage class whatever is declared.
    static func choose(_ declared: DeclaredType, _ probe: ColumnProbe, isOfView: Bool) -> ColumnChoice? {
        guard var choice = chosen(declared, probe) else { return nil }
        // Other programs may put any value into a column that does not turn numbers into text.
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
        // Texts alone are no surprise in a column that declares nothing.
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

    /// A type that holds all values though it is not the declared one.
    private static func wider(_ declared: DeclaredType, _ probe: ColumnProbe) -> ColumnChoice? {
        guard probe.texts + probe.blobs == 0 else { return nil }
        switch declared.kind {
        case .integer, .boolean, .time, .date, .dateTime:
            return probe.reals == 0 ? ColumnChoice(type: .int64, codec: .integer) : numbers(probe)
        case .decimal: return ColumnChoice(type: .double, codec: .double)
        default: return nil
        }
    }

    /// Integers and reals together: binary64 unless an integer has more digits than it holds.
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
        // SQLite keeps to no precision and scale, and the sums of other programs leave 4.140000000000001 in a
        // DECIMAL(8,2): a scale that is stated would make clients refuse such a row later.
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

    /// Seconds reach the year 5138 below 10^11; what is greater counts thousandths, and so on.
    private static func unit(of range: ClosedRange<Int64>) -> Int {
        let greatest = max(range.upperBound.magnitude, range.lowerBound.magnitude)
        if greatest < 100_000_000_000 { return 1 }
        if greatest < 100_000_000_000_000 { return 1000 }
        return greatest < 100_000_000_000_000_000 ? 1_000_000 : 1_000_000_000
    }

    private static func digits(of unit: Int) -> Int { unit == 1 ? 0 : unit == 1000 ? 3 : unit == 1_000_000 ? 6 : 9 }

    /// What a column holds, for a warning: the kinds of values with the number of each and an example.
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
    /// Whether all values are written in some of these forms.
    func consists(of allowed: Set<WrittenForm>) -> Bool {
        !forms.isEmpty && forms.keys.allSatisfy(allowed.contains)
    }
}
