import ODataModel

/// A key for values that `groupby` and `countdistinct` treat as equal: numbers by value, instants without offset,
/// strings by code points.
struct GroupKey: Hashable {
    private var bytes: [UInt8] = []

    init() {}

    init(_ values: [ODataValue]) {
        for value in values { append(value) }
    }

    mutating func append(_ value: ODataValue) {
        switch value {
        case .null: tag("0", "")
        case .boolean(let value): tag("b", value ? "1" : "0")
        case .integer(let value), .enumeration(let value): tag("n", "\(value)")
        case .decimal(let value):
            let plain = value.normalized
            if plain.scale <= 0, let whole = plain.rescaled(to: 0) {
                tag("n", "\(whole.isNegative ? "-" : "")\(whole.magnitude)")
            } else {
                tag("n", "\(plain)")
            }
        case .single(let value): append(.double(Double(value)))
        // Zero has two signs and one value.
        case .double(let value): tag("d", value.isNaN ? "NaN" : "\(value == 0 ? 0 : value)")
        case .string(let value): tag("s", value)
        case .binary(let value): tag("x", value)
        case .guid(let value): tag("g", value.bytes)
        case .date(let value): tag("D", "\(value.daysSinceEpoch)")
        case .timeOfDay(let value): tag("T", "\(value.picoseconds)")
        case .dateTimeOffset, .dateTime: tag("i", "\(value.picoseconds ?? 0)")
        case .duration: tag("p", "\(value.picoseconds ?? 0)")
        case .geo(let value): tag("G", value.wellKnownText)
        case .complex(let entity):
            tag("c", "\(entity.shape.properties.count)")
            for property in entity.shape.properties { append(entity[property.name] ?? .null) }
        case .collection(let members):
            tag("[", "\(members.count)")
            for member in members { append(member) }
        }
    }

    /// Appends the identity of an instance: its key, else its values.
    mutating func append(_ row: EvaluatedRow?) {
        guard let row else { return append(.null) }
        if let key = row.key {
            tag("k", "\(key.parts.count)")
            for part in key.parts { append(part.value) }
        } else {
            for name in row.values.keys.sorted() { append(row.values[name] ?? .null) }
        }
    }

    private mutating func tag(_ tag: Unicode.Scalar, _ text: String) { self.tag(tag, Array(text.utf8)) }

    private mutating func tag(_ tag: Unicode.Scalar, _ content: some Collection<UInt8>) {
        bytes.append(UInt8(truncatingIfNeeded: tag.value))
        bytes.append(contentsOf: "\(content.count):".utf8)
        bytes.append(contentsOf: content)
    }
}
