/// A value of a parameter. Values travel in binary form and are never part of the text of a statement.
public enum PostgresValue: Hashable, Sendable {
    /// No value. Its type is that of the place in the statement.
    case null
    /// A `bigint`.
    case integer(Int64)
    /// A `text`.
    case text(String)
    /// A `bytea`.
    case bytes([UInt8])
    /// A `boolean`.
    case flag(Bool)
    /// A `bigint[]`; `nil` elements are null.
    case integers([Int64?])
    /// A `text[]`; `nil` elements are null.
    case texts([String?])
    /// A `bytea[]`; `nil` elements are null.
    case byteLists([[UInt8]?])
}

/// A statement with its values. The text names them `$1`, `$2` and so on.
///
/// ```swift
/// let statement = PostgresStatement("select name from application where id = $1", [.integer(7)])
/// ```
public struct PostgresStatement: Hashable, Sendable {
    /// The text, one statement. Connections prepare it once.
    public var text: String
    /// The values of `$1`, `$2` and so on.
    public var values: [PostgresValue]

    /// Creates a statement.
    public init(_ text: String, _ values: [PostgresValue] = []) {
        self.text = text
        self.values = values
    }

    /// The greatest number of values of a statement.
    static let valueLimit = Int(UInt16.max)

    /// Throws an error if the statement cannot be sent in pipeline mode. libpq accepts COPY there, and the statements
    /// behind it never end (`design-review.md`, D).
    func check() throws(PostgresError) {
        guard values.count <= Self.valueLimit else { throw .misused(reason: "the statement has too many values") }
        let word = text.drop { $0.isWhitespace || $0 == "(" }.prefix { $0.isLetter }.lowercased()
        guard word != "copy" else { throw .misused(reason: "COPY is not a statement; use copy(_:_:)") }
    }
}

extension PostgresValue {
    /// The number of the type in PostgreSQL; 0 lets the server decide.
    var type: UInt32 {
        switch self {
        case .null: 0
        case .flag: 16
        case .bytes: 17
        case .integer: 20
        case .text: 25
        case .byteLists: 1001
        case .texts: 1009
        case .integers: 1016
        }
    }

    /// The binary form; `nil` for null.
    var binary: [UInt8]? {
        switch self {
        case .null: nil
        case .flag(let value): [value ? 1 : 0]
        case .bytes(let value): value
        case .integer(let value): value.bigEndianBytes
        case .text(let value): Array(value.utf8)
        case .byteLists(let values): Self.array(values, of: 17)
        case .texts(let values): Self.array(values.map { $0.map { Array($0.utf8) } }, of: 25)
        case .integers(let values): Self.array(values.map { $0.map(\.bigEndianBytes) }, of: 20)
        }
    }

    /// Returns the binary form of an array with one dimension.
    private static func array(_ elements: [[UInt8]?], of type: UInt32) -> [UInt8] {
        guard !elements.isEmpty else { return Int32(0).bigEndianBytes + Int32(0).bigEndianBytes + type.bigEndianBytes }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + elements.reduce(0) { $0 + 4 + ($1?.count ?? 0) })
        bytes += Int32(1).bigEndianBytes
        bytes += Int32(elements.contains { $0 == nil } ? 1 : 0).bigEndianBytes
        bytes += type.bigEndianBytes
        bytes += Int32(clamping: elements.count).bigEndianBytes
        bytes += Int32(1).bigEndianBytes
        for element in elements {
            guard let element else {
                bytes += Int32(-1).bigEndianBytes
                continue
            }
            bytes += Int32(clamping: element.count).bigEndianBytes
            bytes += element
        }
        return bytes
    }
}

extension FixedWidthInteger {
    /// The bytes with the most significant one first.
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
