import ODataModel

/// A writer of URLs and expressions, which percent-encodes characters as their place requires.
struct QueryWriter {
    /// The purpose of the text.
    enum Form {
        /// An expression outside a URL, without percent-encoding.
        case text
        /// A readable URL, in which only delimiters within data are encoded.
        case readable
        /// A URL for requests, in ASCII, encoded as RFC 3986 requires.
        case wire
    }

    let form: Form
    let dialect: QueryDialect
    /// Whether the writer is in the path; otherwise it is in the query part.
    var isPath = false
    private var bytes: [UInt8] = []
    /// The literals that were replaced by their types; `nil` if literals are written.
    var lifted: [ODataValue]?

    init(_ form: Form, dialect: QueryDialect = .v4) {
        self.form = form
        self.dialect = dialect
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    var count: Int { bytes.count }

    /// Returns whether the two digits before `end` and the two from `start` on would be read as hours and minutes.
    func isTimeOfDay(endingHoursAt end: Int, minutesAt start: Int) -> Bool {
        end >= 2 && start + 1 < bytes.count
            && [end - 2, end - 1, start, start + 1].allSatisfy { bytes[$0].isDigit }
    }

    /// Inserts a delimiter at an earlier position.
    mutating func insert(_ character: Unicode.Scalar, at index: Int) {
        bytes.insert(UInt8(ascii: character), at: index)
    }

    /// Writes a delimiter of the URL, which is never encoded.
    mutating func delimiter(_ character: Unicode.Scalar) { bytes.append(UInt8(ascii: character)) }

    /// Writes syntax of the grammar.
    mutating func write(_ syntax: String) {
        for byte in syntax.utf8 { append(byte, isData: false) }
    }

    /// Writes data, in which a slash is not a separator.
    mutating func write(data: String) {
        for byte in data.utf8 { append(byte, isData: true) }
    }

    /// Writes a byte percent-encoded, except in expressions outside a URL.
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
