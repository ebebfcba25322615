import ODataModel

/// Splits a multipart text, including change sets, into HTTP messages in chunks. Each message is returned as soon
/// as it is complete, and at most one message is kept in memory.
struct MultipartReader: Sendable {
    /// A line without its line ending.
    struct Line: Hashable, Sendable {
        var text: String
        var offset: Int
        var number: Int
    }

    /// A request or response with an unparsed start line.
    struct Message: Sendable {
        var id: String?
        var startLine: Line
        var headers: [BatchHeader]
        var body: [UInt8]
        var group: String?
        /// The error that prevents reading a request.
        var problem: BatchError?
    }

    private enum Phase {
        /// Before the first delimiter of the batch or the change set.
        case preamble
        /// In the header fields of a part.
        case headers
        /// In the message of a part.
        case message
        /// After a change set, before the next delimiter of the batch.
        case afterChangeSet
        /// After the closing delimiter, which arbitrary text may follow.
        case epilogue
    }

    private struct ChangeSet {
        var delimiter: [UInt8]
        var boundary: String
        var group: String
        var start: Position
        var ids: Set<String> = []
        var count = 0
    }

    /// A position in the whole text.
    private struct Position {
        var offset: Int
        var line: Int
    }

    private let isRequest: Bool
    private let boundary: String
    private let delimiter: [UInt8]
    private var changeSet: ChangeSet?
    private var phase = Phase.preamble

    private var buffer: [UInt8] = []
    /// The start of the current part in the buffer; earlier bytes can be dropped.
    private var partStart = 0
    private var messageStart = 0
    /// The start of the next line, and the position from which its end is searched.
    private var lineStart = 0
    private var searched = 0
    /// The offset of the buffer's first byte in the whole text.
    private var origin = 0
    /// A position in the buffer with its line number, which advances with the parts.
    private var mark = (index: 0, line: 1)
    private var isComplete = false
    private var partHeaders: [BatchHeader] = []
    /// The error that prevents reading the request in this part.
    private var partProblem: BatchError?
    private var count = 0
    private var groups = DistinctNames()

    init(boundary: String, isRequest: Bool) {
        self.isRequest = isRequest
        self.boundary = boundary
        delimiter = Array("--\(boundary)".utf8)
    }

    mutating func append(_ bytes: some Sequence<UInt8>) {
        dropRead()
        guard phase != .epilogue else { return }
        buffer.append(contentsOf: bytes)
    }

    mutating func finish() { isComplete = true }

    /// Returns the next message; `nil` if more bytes are needed, and after the last message.
    mutating func next() throws(BatchError) -> Message? {
        while phase != .epilogue {
            guard let (end, next) = nextLine() else {
                if isComplete { throw endError() }
                guard buffer.count - partStart <= BatchPartLimits.maxPartBytes else {
                    throw error(.partTooLarge, at: partStart, expected: "at most \(BatchPartLimits.maxPartBytes) bytes")
                }
                return nil
            }
            let start = lineStart
            lineStart = next
            searched = next
            if let message = try take(start..<end, next) { return message }
        }
        return nil
    }

    // MARK: Lines

    private mutating func dropRead() {
        let done =
            phase == .epilogue ? buffer.count : phase == .preamble || phase == .afterChangeSet ? lineStart : partStart
        guard done > 0 else { return }
        moveMark(to: done)
        mark.index = 0
        origin += done
        buffer.removeFirst(done)
        for path in [\MultipartReader.partStart, \.messageStart, \.lineStart, \.searched] {
            self[keyPath: path] = max(0, self[keyPath: path] - done)
        }
    }

    /// Returns the end of the line at ``lineStart`` and the start of the following line.
    private mutating func nextLine() -> (end: Int, next: Int)? {
        guard let feed = buffer[searched...].firstIndex(of: 0x0A) else {
            searched = buffer.count
            return isComplete && lineStart < buffer.count ? (buffer.count, buffer.count) : nil
        }
        let end = feed > lineStart && buffer[feed - 1] == 0x0D ? feed - 1 : feed
        return (end, feed + 1)
    }

    private mutating func take(_ line: Range<Int>, _ next: Int) throws(BatchError) -> Message? {
        if let open = changeSet, isDelimiter(line, delimiter) != nil {
            let reason: BatchError.Reason =
                phase == .preamble ? .noPart(boundary: open.boundary) : .notClosed(boundary: open.boundary)
            let ending = phase == .preamble ? "" : "--"
            throw error(reason, at: line.lowerBound, expected: "the line --\(open.boundary)\(ending)")
        }
        let isLast = isDelimiter(line, changeSet?.delimiter ?? delimiter)
        switch phase {
        case .preamble, .afterChangeSet:
            if let isLast { try beginPart(next, isLast) }
        case .headers:
            if let isLast {
                try beginMessage(beforeLineEnd(line.lowerBound, partStart))
                return try finishPart(line.lowerBound, line.lowerBound, next: next, isLast: isLast)
            }
            guard line.isEmpty else { return nil }
            try beginMessage(line.lowerBound)
            // A change set continues with its own preamble.
            if phase == .headers {
                messageStart = next
                phase = .message
            }
        case .message:
            if let isLast {
                return try finishPart(
                    messageStart, beforeLineEnd(line.lowerBound, messageStart), next: next, isLast: isLast)
            }
        case .epilogue: break
        }
        return nil
    }

    /// Returns whether a delimiter is the closing one; `nil` if the line is not a delimiter. Blanks may follow a
    /// delimiter.
    private func isDelimiter(_ line: Range<Int>, _ delimiter: [UInt8]) -> Bool? {
        var start = line.lowerBound
        // A byte order mark may precede the first line.
        if origin == 0, start == 0, buffer.starts(with: [0xEF, 0xBB, 0xBF]) { start = min(3, line.upperBound) }
        let line = buffer[start..<line.upperBound]
        guard line.starts(with: delimiter) else { return nil }
        var rest = line.dropFirst(delimiter.count)
        let isLast = rest.starts(with: [0x2D, 0x2D])
        if isLast { rest = rest.dropFirst(2) }
        return rest.allSatisfy { $0 == 0x20 || $0 == 0x09 } ? isLast : nil
    }

    /// Returns the position before a line ending, because the line ending before a delimiter belongs to the
    /// delimiter.
    private func beforeLineEnd(_ position: Int, _ start: Int) -> Int {
        var end = position
        if end > start, buffer[end - 1] == 0x0A { end -= 1 }
        if end > start, buffer[end - 1] == 0x0D { end -= 1 }
        return end
    }

    // MARK: Parts

    /// Continues after a delimiter.
    private mutating func beginPart(_ next: Int, _ isLast: Bool) throws(BatchError) {
        partStart = next
        moveMark(to: next)
        guard isLast else {
            phase = .headers
            return
        }
        guard let closed = changeSet else {
            phase = .epilogue
            return
        }
        if closed.count == 0 {
            throw BatchError(
                reason: .emptyChangeSet, offset: closed.start.offset, line: closed.start.line,
                expected: isRequest ? "at least one request" : "at least one response")
        }
        changeSet = nil
        phase = .afterChangeSet
    }

    /// Reads the header fields of a part. Invalid fields affect only the request of the part.
    private mutating func beginMessage(_ end: Int) throws(BatchError) {
        partHeaders = []
        partProblem = nil
        do throws(BatchError) {
            partHeaders = try readHeaders(partStart, end).headers
            try checkPart()
        } catch {
            guard isRequest, error.isOfOneRequest else { throw error }
            partProblem = error
        }
    }

    /// Checks the header fields of a part and opens a change set if the part is one.
    private mutating func checkPart() throws(BatchError) {
        let contentType = partHeaders.value(of: "Content-Type")
        let type = MultipartSyntax.trimmed((contentType ?? "").prefix { $0 != ";" }).lowercased()
        if type == "multipart/mixed" {
            guard changeSet == nil else {
                throw error(.nestedChangeSet, at: partStart, expected: "requests within a change set")
            }
            guard let contentType, let inner = MultipartSyntax.boundary(contentType) else {
                throw error(.noBoundary(contentType ?? ""), at: partStart, expected: "multipart/mixed with a boundary")
            }
            var name = inner
            for prefix in ["changesetresponse_", "changeset_"] where name.hasPrefix(prefix) && name != prefix {
                name = String(name.dropFirst(prefix.count))
            }
            changeSet = ChangeSet(
                delimiter: Array("--\(inner)".utf8), boundary: inner, group: groups.next(name),
                start: position(of: partStart))
            phase = .preamble
            return
        }
        guard count < BatchPartLimits.maxParts else {
            throw error(.tooManyParts, at: partStart, expected: "at most \(BatchPartLimits.maxParts) parts")
        }
        guard type == "application/http" else {
            throw error(
                .unexpectedContentType(contentType), at: partStart, expected: "application/http or multipart/mixed")
        }
        if let encoding = partHeaders.value(of: "Content-Transfer-Encoding"),
            !["binary", "8bit", "7bit"].contains(encoding.lowercased())
        {
            throw error(.unsupportedEncoding(encoding), at: partStart, expected: "binary")
        }
    }

    private mutating func finishPart(
        _ start: Int, _ end: Int, next: Int, isLast: Bool
    ) throws(BatchError) -> Message? {
        if phase == .preamble, let open = changeSet {
            // The change set has header fields but no content.
            throw error(.noPart(boundary: open.boundary), at: start, expected: "the line --\(open.boundary)")
        }
        var message = try message(start, max(start, end))
        count += 1
        if changeSet != nil {
            changeSet?.count += 1
            if let id = message.id, changeSet?.ids.insert(id).inserted == false {
                let problem = BatchError(
                    reason: .duplicateID(id), offset: message.startLine.offset, line: message.startLine.number,
                    expected: "each content id once in a change set")
                guard isRequest else { throw problem }
                message.problem = problem
            }
        }
        try beginPart(next, isLast)
        return message
    }

    /// Reads a message; an unreadable request is returned with its problem.
    private func message(_ start: Int, _ end: Int) throws(BatchError) -> Message {
        let id = partHeaders.value(of: "Content-ID")
        let place = position(of: start)
        let nothing = Line(text: "", offset: place.offset, number: place.line)
        var problem = partProblem
        if problem == nil {
            do throws(BatchError) {
                return try readMessage(start, end)
            } catch {
                guard isRequest, error.isOfOneRequest else { throw error }
                problem = error
            }
        }
        return Message(
            id: id, startLine: nothing, headers: [], body: [], group: changeSet?.group, problem: problem)
    }

    private func readMessage(_ start: Int, _ end: Int) throws(BatchError) -> Message {
        var position = start
        // Some writers add an empty line before the message.
        while position < end, buffer[position] == 0x0D || buffer[position] == 0x0A { position += 1 }
        let (lineEnd, next) = line(at: position, before: end)
        let place = self.position(of: position)
        let startLine = Line(
            text: try text(position..<lineEnd), offset: place.offset, number: place.line)
        guard !startLine.text.isEmpty else {
            throw error(
                .malformedStartLine(""), at: position, expected: isRequest ? "a request line" : "a status line")
        }
        let (headers, bodyStart) = try readHeaders(next, end)
        var body = Array(buffer[bodyStart..<end])
        if let length = headers.value(of: "Content-Length").flatMap({ Int($0) }), length >= 0, length <= body.count,
            body[length...].allSatisfy({ $0 == 0x0D || $0 == 0x0A })
        {
            body.removeLast(body.count - length)
        } else if body.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) {
            // Empty lines after a message without a body are formatting.
            body = []
        }
        // In earlier versions, the content id is a header field of the message itself.
        let id = partHeaders.value(of: "Content-ID") ?? headers.value(of: "Content-ID")
        return Message(id: id, startLine: startLine, headers: headers, body: body, group: changeSet?.group)
    }

    // MARK: Header fields

    /// Returns the end of the line at a position, and the start of the following line.
    private func line(at position: Int, before end: Int) -> (end: Int, next: Int) {
        guard let feed = buffer[position..<end].firstIndex(of: 0x0A) else { return (end, end) }
        return (feed > position && buffer[feed - 1] == 0x0D ? feed - 1 : feed, feed + 1)
    }

    private func text(_ range: Range<Int>) throws(BatchError) -> String {
        guard range.count <= BatchPartLimits.maxLineBytes else {
            throw error(.lineTooLong, at: range.lowerBound, expected: "at most \(BatchPartLimits.maxLineBytes) bytes")
        }
        return MultipartSyntax.trimmed(String(decoding: buffer[range], as: UTF8.self))
    }

    /// Reads header fields up to and including the empty line.
    private func readHeaders(
        _ start: Int, _ end: Int
    ) throws(BatchError) -> (headers: [BatchHeader], next: Int) {
        var headers: [BatchHeader] = []
        var position = start
        while position < end {
            let (lineEnd, next) = line(at: position, before: end)
            defer { position = next }
            if lineEnd == position { break }
            let content = try text(position..<lineEnd)
            if buffer[position] == 0x20 || buffer[position] == 0x09, let last = headers.indices.last {
                // A folded line continues the previous field. A line of blanks adds nothing.
                let words = [headers[last].value, content].filter { !$0.isEmpty }
                headers[last].value = words.joined(separator: " ")
                continue
            }
            guard let (name, value) = content.halves(atFirst: ":"), !name.isEmpty else {
                throw error(
                    .malformedHeader(String(content.prefix(80))), at: position, expected: "a name, a colon and a value")
            }
            guard headers.count < BatchPartLimits.maxHeaders else {
                throw error(
                    .tooManyHeaders, at: position, expected: "at most \(BatchPartLimits.maxHeaders) header fields")
            }
            headers.append(BatchHeader(MultipartSyntax.trimmed(name), MultipartSyntax.trimmed(value)))
        }
        return (headers, position)
    }

    // MARK: Errors

    private func position(of index: Int) -> Position {
        let index = min(max(index, mark.index), buffer.count)
        let lines = buffer[mark.index..<index].reduce(mark.line) { $0 + ($1 == 0x0A ? 1 : 0) }
        return Position(offset: origin + index, line: lines)
    }

    /// Advances the mark from which lines are counted; no earlier position is requested again.
    private mutating func moveMark(to index: Int) { mark = (index, position(of: index).line) }

    private func error(_ reason: BatchError.Reason, at index: Int, expected: String) -> BatchError {
        let place = position(of: index)
        return BatchError(reason: reason, offset: place.offset, line: place.line, expected: expected)
    }

    /// Returns the error for a text that ends within a part.
    private func endError() -> BatchError {
        if changeSet == nil, phase == .preamble {
            return BatchError(
                reason: .noPart(boundary: boundary), offset: 0, line: 1, expected: "the line --\(boundary)")
        }
        let open = changeSet?.boundary ?? boundary
        return error(.notClosed(boundary: open), at: buffer.count, expected: "the line --\(open)--")
    }
}

/// Unique names of change sets, because several change sets may use the same boundary.
struct DistinctNames: Sendable {
    private var given: Set<String> = []

    /// Returns the name, with a number appended if it was used before.
    mutating func next(_ name: String) -> String {
        var next = name
        var number = 2
        while !given.insert(next).inserted {
            next = "\(name)-\(number)"
            number += 1
        }
        return next
    }
}

/// Syntax shared by readers and writers of multipart texts.
enum MultipartSyntax {
    /// Returns the boundary parameter of a `multipart/mixed` content type, without quotation marks.
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

    /// Returns the text without blanks and tabs at both ends.
    static func trimmed(_ text: some StringProtocol) -> String {
        guard let first = text.firstIndex(where: { $0 != " " && $0 != "\t" }),
            let last = text.lastIndex(where: { $0 != " " && $0 != "\t" })
        else { return "" }
        return String(text[first...last])
    }
}
