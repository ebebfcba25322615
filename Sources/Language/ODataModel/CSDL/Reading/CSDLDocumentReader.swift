/// Reads one metadata document in XML or JSON from chunks as they arrive, and appends it to earlier documents.
///
/// The reader parses XML chunk by chunk and never holds the whole document. It holds JSON until the document is
/// complete, because the members of a JSON object may have any order.
struct CSDLDocumentReader: ~Copyable {
    /// The maximum size of an XML declaration that follows white space, in bytes.
    private static let maxDeclarationBytes = 4096
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let source: String?
    private var size: DocumentSize
    private var earlier: CSDLContent
    /// The first bytes, until they determine the format, and until an XML declaration that follows white space is
    /// complete.
    private var start: [UInt8] = []
    /// The number of bytes before the first character: a byte order mark, white space and control characters.
    private var blankCount = 0
    /// Whether the first character follows white space without control characters.
    private var hasSpace = false
    private var format: Format?
    private var xml: CSDLXMLReader?
    private var json: [UInt8] = []

    /// The two formats of CSDL.
    private enum Format {
        case xml
        case json
    }

    /// The number of bytes read so far.
    var byteCount: Int { size.bytes }

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - limit: the maximum size of the document, in bytes.
    ///   - content: the earlier documents.
    ///   - source: the URI of the document; `nil` for the first document.
    init(limit: Int, behind content: CSDLContent = CSDLContent(), source: String? = nil) {
        size = DocumentSize(limit: limit)
        earlier = content
        self.source = source
    }

    /// Returns whether a document begins like JSON.
    static func isJSON(_ bytes: [UInt8]) -> Bool {
        let start = bytes.starts(with: byteOrderMark) ? byteOrderMark.count : 0
        return bytes[start...].first { $0 > 0x20 }.map(isJSON) ?? false
    }

    private static func isJSON(_ first: UInt8) -> Bool { first == UInt8(ascii: "{") || first == UInt8(ascii: "[") }

    /// Reads the next chunk.
    ///
    /// - Throws: ``CSDLError`` with the line, the column and the expected content.
    mutating func append(_ bytes: [UInt8]) throws(CSDLError) {
        guard size.add(bytes.count) else {
            throw CSDLError(
                reason: .tooLarge(limit: size.limit), line: 1, column: 1, expected: "a smaller document", source: source
            )
        }
        switch format {
        case .xml?: try xml?.append(bytes)
        case .json?: json += bytes
        case nil:
            if start.isEmpty { start = bytes } else { start += bytes }
            try begin(isComplete: false)
        }
    }

    /// Marks the end of the document.
    ///
    /// - Returns: the earlier documents with this document.
    /// - Throws: ``CSDLError`` with the line, the column and the expected content.
    mutating func finish() throws(CSDLError) -> CSDLContent {
        if format == nil { try begin(isComplete: true) }
        if format == .json {
            try CSDLJSONParser.parse(json, into: &earlier, source: source)
            return earlier.take()
        }
        guard let content = try xml?.finish() else {
            throw CSDLError(reason: .empty, line: 1, column: 1, expected: "a metadata document", source: source)
        }
        return content
    }

    /// Starts the parser of the format if the first bytes determine it.
    private mutating func begin(isComplete: Bool) throws(CSDLError) {
        if blankCount == 0 {
            guard isComplete || !Self.byteOrderMark.starts(with: start) else { return }
            blankCount = markCount
        }
        let first = start[blankCount...].firstIndex { $0 > 0x20 } ?? start.count
        if first > blankCount {
            let isSpace = start[blankCount..<first].allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
            hasSpace = isSpace && (hasSpace || blankCount == markCount)
            blankCount = first
        }
        guard first < start.count else { return }
        if Self.isJSON(start[first]) {
            format = .json
            swap(&json, &start)
        } else if isComplete || !mayBeDeclaration(at: first) {
            format = .xml
            let bytes = declarationFirst(at: first)
            start = []
            var reader = CSDLXMLReader(behind: earlier.take(), source: source, expectedBytes: bytes.count)
            try reader.append(bytes)
            xml = consume reader
        }
    }

    /// Returns whether the bytes that follow white space may be the beginning of an incomplete XML declaration.
    private func mayBeDeclaration(at first: Int) -> Bool {
        guard hasSpace else { return false }
        let text = start[first...].prefix(Self.maxDeclarationBytes)
        let mark = "<?xml".utf8
        guard text.count >= mark.count else { return mark.starts(with: text) }
        return text.starts(with: mark) && text.count < Self.maxDeclarationBytes && !text.contains(UInt8(ascii: ">"))
    }

    /// Returns the first bytes with white space before the XML declaration moved behind the declaration. XML forbids
    /// such white space, but templates produce it. Moving the white space preserves the line numbers.
    private func declarationFirst(at first: Int) -> [UInt8] {
        guard hasSpace, start[first...].starts(with: "<?xml".utf8),
            let end = start[first...].prefix(Self.maxDeclarationBytes).firstIndex(of: UInt8(ascii: ">"))
        else { return start }
        let mark = markCount
        return Array(start[first...end]) + start[mark..<first] + start[(end + 1)...]
    }

    /// The size of the byte order mark, in bytes; 0 if there is none.
    private var markCount: Int { start.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0 }
}
