/// Splits a multipart text into its HTTP messages, change sets included.
struct MultipartScanner {
    /// One line without its end.
    struct Line {
        var text: String
        var offset: Int
    }

    /// One request or response, its start line not yet looked at.
    struct Message {
        var id: String?
        var startLine: Line
        var headers: [BatchHeader]
        var body: [UInt8]
        var group: String?
    }

    private let bytes: [UInt8]
    private let isRequest: Bool
    private var messages: [Message] = []

    static func messages(in bytes: [UInt8], boundary: String, isRequest: Bool) throws(BatchError) -> [Message] {
        var scanner = MultipartScanner(bytes: bytes, isRequest: isRequest)
        try scanner.readParts(0..<bytes.count, boundary, group: nil)
        return scanner.messages
    }

    private init(bytes: [UInt8], isRequest: Bool) {
        self.bytes = bytes
        self.isRequest = isRequest
    }

    /// The boundary parameter of a `multipart/mixed` content type, quotation marks removed.
    static func boundary(_ contentType: String) -> String? {
        let parts = contentType.split(separator: ";", omittingEmptySubsequences: false)
        guard let type = parts.first, trimmed(type).lowercased() == "multipart/mixed" else { return nil }
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, trimmed(pair[0]).lowercased() == "boundary" else { continue }
            var value = trimmed(pair[1])
            if value.hasPrefix("\""), value.hasSuffix("\""), value.count > 1 {
                value = String(value.dropFirst().dropLast())
            }
            // A boundary has 1 to 70 characters (RFC 2046, 5.1.1).
            return (1...70).contains(value.utf8.count) ? value : nil
        }
        return nil
    }

    static func error(
        _ reason: BatchError.Reason, at offset: Int, in bytes: [UInt8], expected: String
    ) -> BatchError {
        let offset = min(max(offset, 0), bytes.count)
        let lines = bytes[..<offset].reduce(1) { $0 + ($1 == 0x0A ? 1 : 0) }
        return BatchError(reason: reason, offset: offset, line: lines, expected: expected)
    }

    private func error(_ reason: BatchError.Reason, at offset: Int, expected: String) -> BatchError {
        Self.error(reason, at: offset, in: bytes, expected: expected)
    }

    // MARK: Parts

    /// Reads the parts between the lines with a boundary; what stands before and after is not looked at.
    private mutating func readParts(
        _ range: Range<Int>, _ boundary: String, group: String?
    ) throws(BatchError) {
        let delimiter = Array("--\(boundary)".utf8)
        var partStart: Int?
        var isClosed = false
        var isFound = false
        var position = range.lowerBound
        if position == 0, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        while position < range.upperBound, !isClosed {
            let (end, next) = line(from: position, in: range)
            if let isLast = isDelimiter(position..<end, delimiter) {
                if let start = partStart { try readPart(start..<beforeLineEnd(position, start), group) }
                partStart = next
                isFound = true
                isClosed = isLast
            }
            position = next
        }
        guard isFound else {
            throw error(.noPart(boundary: boundary), at: range.lowerBound, expected: "the line --\(boundary)")
        }
        guard isClosed else {
            throw error(.notClosed(boundary: boundary), at: range.upperBound, expected: "the line --\(boundary)--")
        }
    }

    /// Whether a line is a delimiter, and whether it is the closing one; blanks may follow.
    private func isDelimiter(_ line: Range<Int>, _ delimiter: [UInt8]) -> Bool? {
        guard line.count >= delimiter.count, bytes[line].starts(with: delimiter) else { return nil }
        var rest = bytes[(line.lowerBound + delimiter.count)..<line.upperBound]
        let isLast = rest.starts(with: [0x2D, 0x2D])
        if isLast { rest = rest.dropFirst(2) }
        return rest.allSatisfy { $0 == 0x20 || $0 == 0x09 } ? isLast : nil
    }

    /// The line end before a delimiter belongs to the delimiter.
    private func beforeLineEnd(_ position: Int, _ start: Int) -> Int {
        var end = position
        if end > start, bytes[end - 1] == 0x0A { end -= 1 }
        if end > start, bytes[end - 1] == 0x0D { end -= 1 }
        return end
    }

    private mutating func readPart(_ range: Range<Int>, _ group: String?) throws(BatchError) {
        var position = range.lowerBound
        let headers = try readHeaders(&position, range)
        let contentType = headers.value(of: "Content-Type")
        let type = Self.trimmed((contentType ?? "").prefix { $0 != ";" }).lowercased()
        if type == "multipart/mixed" {
            guard group == nil else {
                throw error(.nestedChangeSet, at: range.lowerBound, expected: "requests within a change set")
            }
            guard let contentType, let boundary = Self.boundary(contentType) else {
                throw error(
                    .noBoundary(contentType ?? ""), at: range.lowerBound, expected: "multipart/mixed with a boundary")
            }
            let before = messages.count
            var name = boundary
            for prefix in ["changesetresponse_", "changeset_"] where name.hasPrefix(prefix) && name != prefix {
                name = String(name.dropFirst(prefix.count))
            }
            try readParts(position..<range.upperBound, boundary, group: name)
            if isRequest, messages.count == before {
                throw error(.emptyChangeSet, at: range.lowerBound, expected: "at least one request")
            }
            return
        }
        guard type == "application/http" else {
            throw error(
                .unexpectedContentType(contentType), at: range.lowerBound,
                expected: group == nil ? "application/http or multipart/mixed" : "application/http")
        }
        if let encoding = headers.value(of: "Content-Transfer-Encoding"),
            !["binary", "8bit", "7bit"].contains(encoding.lowercased())
        {
            throw error(.unsupportedEncoding(encoding), at: range.lowerBound, expected: "binary")
        }
        guard messages.count < BatchLimits.maxParts else {
            throw error(.tooManyParts, at: range.lowerBound, expected: "at most \(BatchLimits.maxParts) parts")
        }
        try readMessage(&position, range, headers, group)
    }

    private mutating func readMessage(
        _ position: inout Int, _ range: Range<Int>, _ partHeaders: [BatchHeader], _ group: String?
    ) throws(BatchError) {
        // Some writers put an empty line before the message.
        while position < range.upperBound, bytes[position] == 0x0D || bytes[position] == 0x0A { position += 1 }
        let (end, next) = line(from: position, in: range)
        let startLine = Line(text: try text(position..<end), offset: position)
        guard !startLine.text.isEmpty else {
            throw error(
                .malformedStartLine(""), at: position, expected: isRequest ? "a request line" : "a status line")
        }
        position = next
        let headers = try readHeaders(&position, range)
        var body = Array(bytes[position..<range.upperBound])
        if let length = headers.value(of: "Content-Length").flatMap({ Int($0) }), length >= 0, length < body.count,
            body[length...].allSatisfy({ $0 == 0x0D || $0 == 0x0A })
        {
            body.removeLast(body.count - length)
        } else if body.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) {
            // Empty lines after a message without a body are layout.
            body = []
        }
        // Earlier versions have the content id among the message's own headers.
        let id = partHeaders.value(of: "Content-ID") ?? headers.value(of: "Content-ID")
        messages.append(Message(id: id, startLine: startLine, headers: headers, body: body, group: group))
    }

    // MARK: Lines

    /// The end of the line at a position, and the start of the next one.
    private func line(from position: Int, in range: Range<Int>) -> (end: Int, next: Int) {
        guard let feed = bytes[position..<range.upperBound].firstIndex(of: 0x0A) else {
            return (range.upperBound, range.upperBound)
        }
        let end = feed > position && bytes[feed - 1] == 0x0D ? feed - 1 : feed
        return (end, feed + 1)
    }

    private func text(_ range: Range<Int>) throws(BatchError) -> String {
        guard range.count <= BatchLimits.maxLineBytes else {
            throw error(.lineTooLong, at: range.lowerBound, expected: "at most \(BatchLimits.maxLineBytes) bytes")
        }
        return Self.trimmed(String(decoding: bytes[range], as: UTF8.self))
    }

    /// Reads header fields up to and with the empty line.
    private func readHeaders(_ position: inout Int, _ range: Range<Int>) throws(BatchError) -> [BatchHeader] {
        var headers: [BatchHeader] = []
        while position < range.upperBound {
            let (end, next) = line(from: position, in: range)
            defer { position = next }
            if end == position { break }
            let content = try text(position..<end)
            if bytes[position] == 0x20 || bytes[position] == 0x09, let last = headers.indices.last {
                // A folded line goes on with the field before.
                headers[last].value += " " + content
                continue
            }
            guard let colon = content.firstIndex(of: ":"), colon != content.startIndex else {
                throw error(
                    .malformedHeader(String(content.prefix(80))), at: position, expected: "a name, a colon and a value")
            }
            guard headers.count < BatchLimits.maxHeaders else {
                throw error(.tooManyHeaders, at: position, expected: "at most \(BatchLimits.maxHeaders) header fields")
            }
            let value = Self.trimmed(content[content.index(after: colon)...])
            headers.append(BatchHeader(Self.trimmed(content[..<colon]), value))
        }
        return headers
    }

    /// Without blanks and tabs at both ends.
    private static func trimmed(_ text: some StringProtocol) -> String {
        guard let first = text.firstIndex(where: { $0 != " " && $0 != "\t" }),
            let last = text.lastIndex(where: { $0 != " " && $0 != "\t" })
        else { return "" }
        return String(text[first...last])
    }
}
