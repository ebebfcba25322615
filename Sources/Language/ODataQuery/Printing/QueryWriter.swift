import ODataModel

/// Collects the text of a URL or expression and percent-encodes what its place requires.
struct QueryWriter {
    /// How the text will be used.
    enum Form {
        /// An expression by itself: nothing is encoded.
        case text
        /// A URL for people: only what would be taken for a delimiter is encoded.
        case readable
        /// A URL for the wire: ASCII, with everything encoded that RFC 3986 does not allow where it stands.
        case wire
    }

    let form: Form
    let dialect: QueryDialect
    /// Whether the path is being written; the query part otherwise.
    var isPath = false
    private var bytes: [UInt8] = []
    /// The literals lifted out of the text so far; `nil` when they are written.
    var lifted: [ODataValue]?

    init(_ form: Form, dialect: QueryDialect = .v4) {
        self.form = form
        self.dialect = dialect
    }

    /// What has been written.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// How many bytes have been written.
    var count: Int { bytes.count }

    /// Whether two digits before `end` and two from `start` on would be read, with a colon between them, as hours and minutes.
    func isTimeOfDay(endingHoursAt end: Int, minutesAt start: Int) -> Bool {
        end >= 2 && start + 1 < bytes.count
            && [end - 2, end - 1, start, start + 1].allSatisfy { bytes[$0].isDigit }
    }

    /// Puts a delimiter before what has been written from `index` on.
    mutating func insert(_ character: Unicode.Scalar, at index: Int) {
        bytes.insert(UInt8(ascii: character), at: index)
    }

    /// Writes a delimiter of the URL itself, never encoded.
    mutating func delimiter(_ character: Unicode.Scalar) { bytes.append(UInt8(ascii: character)) }

    /// Writes syntax: what the grammar itself is made of.
    mutating func write(_ syntax: String) {
        for byte in syntax.utf8 { append(byte, isData: false) }
    }

    /// Writes data, in which a slash is no separator of segments.
    mutating func write(data: String) {
        for byte in data.utf8 { append(byte, isData: true) }
    }

    /// Writes a byte percent-encoded, whatever it is; as it stands in expressions by themselves.
    mutating func write(encoded byte: UInt8) {
        guard form != .text else {
            bytes.append(byte)
            return
        }
        let digits = Array("0123456789ABCDEF".utf8)
        bytes.append(UInt8(ascii: "%"))
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
    }

    /// Writes items with a separator between them.
    mutating func list<Item>(
        _ items: some Sequence<Item>, separator: String = ",", _ item: (inout QueryWriter, Item) -> Void
    ) {
        var isFirst = true
        for next in items {
            if !isFirst { write(separator) }
            isFirst = false
            item(&self, next)
        }
    }

    private mutating func append(_ byte: UInt8, isData: Bool) {
        if mustEncode(byte, isData: isData) { write(encoded: byte) } else { bytes.append(byte) }
    }

    private func mustEncode(_ byte: UInt8, isData: Bool) -> Bool {
        if form == .text || byte.isLetter || byte.isDigit { return false }
        switch byte {
        case UInt8(ascii: "%"), UInt8(ascii: "#"), UInt8(ascii: "+"), UInt8(ascii: "&"), 0..<32, 127: return true
        case UInt8(ascii: "/"): return isPath && isData
        case UInt8(ascii: "?"): return isPath
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"),
            UInt8(ascii: "$"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"),
            UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "="):
            return false
        default: return form == .wire
        }
    }
}
