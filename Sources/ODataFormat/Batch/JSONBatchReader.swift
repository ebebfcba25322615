import ODataModel

/// Gives the requests or responses of a JSON batch one by one, fed in chunks: each comes out as soon as it is
/// complete, and no more than one is held (OData JSON Format 4.01, 19).
struct JSONBatchReader: Sendable {
    private enum Stage {
        case start, member, value(isItems: Bool), items, end
    }

    private enum Outcome {
        case item(JSONBatchItem, JSONPosition)
        case nothing, ended, missing
    }

    /// `requests` or `responses`.
    private let name: StaticString
    private var stage = Stage.start
    private var isFound = false
    private var count = 0

    private var buffer: [UInt8] = []
    private var consumed = 0
    private var origin = JSONPosition()
    private var state = JSONScanner.State()
    private var isComplete = false
    /// Looks for the end of an item that ran over the end of the buffer, and how far it has looked.
    private var finder: JSONBoundaryFinder?
    private var searched = 0
    /// The size of a buffer that nothing more can be read from; -1 for none.
    private var exhausted = -1

    init(_ name: StaticString) { self.name = name }

    mutating func append(_ bytes: some Sequence<UInt8>) {
        if consumed > 0 {
            origin = buffer.withUnsafeBufferPointer {
                origin.advanced(over: UnsafeBufferPointer(rebasing: $0[..<consumed]))
            }
            buffer.removeFirst(consumed)
            searched -= consumed
            consumed = 0
            exhausted = -1
        }
        buffer.append(contentsOf: bytes)
    }

    mutating func finish() { isComplete = true }

    /// The next item with its place; `nil` when more bytes are needed, and after the last one.
    mutating func next() throws(BatchError) -> (item: JSONBatchItem, position: JSONPosition)? {
        while isReady() {
            let outcome: Outcome
            do throws(JSONError) {
                outcome = try step()
            } catch {
                guard error.needsMoreData else { throw .at(error.position, .json(error), expected: error.expected) }
                if finder == nil {
                    finder = JSONBoundaryFinder()
                    searched = consumed
                } else {
                    finder = nil
                    exhausted = buffer.count
                }
                continue
            }
            finder = nil
            switch outcome {
            case .nothing: continue
            case .ended: return nil
            case .missing: throw .at(JSONPosition(), .noPart(boundary: "\(name)"), expected: "the member \(name)")
            case .item(let item, let position):
                count += 1
                guard count <= BatchLimits.maxParts else {
                    throw .at(position, .tooManyParts, expected: "at most \(BatchLimits.maxParts) parts")
                }
                return (item, position)
            }
        }
        guard buffer.count - consumed <= BatchLimits.maxPartBytes else {
            throw .at(origin, .partTooLarge, expected: "at most \(BatchLimits.maxPartBytes) bytes")
        }
        return nil
    }

    /// Whether it makes sense to scan: an item that was cut is scanned again only when its end has come.
    private mutating func isReady() -> Bool {
        if isComplete { return true }
        if exhausted == buffer.count { return false }
        guard var finder else { return true }
        let start = searched
        let end = buffer.withUnsafeBufferPointer { finder.end(in: UnsafeBufferPointer(rebasing: $0[start...])) }
        searched = buffer.count
        self.finder = finder
        return end != nil
    }

    /// Reads one item or one member; changes nothing when it throws.
    private mutating func step() throws(JSONError) -> Outcome {
        let (name, start, origin, state, isComplete) = (name, consumed, origin, state, isComplete)
        var (stage, isFound) = (stage, isFound)
        let (outcome, end, newState) = try buffer.withUnsafeBufferPointer {
            (bytes) throws(JSONError) -> (Outcome, Int, JSONScanner.State) in
            var scanner = JSONScanner(
                UnsafeRawBufferPointer(bytes), isComplete: isComplete, origin: origin, startingAt: start,
                resuming: state)
            var outcome = Outcome.nothing
            switch stage {
            case .start:
                try scanner.beginObject()
                stage = .member
            case .member:
                if let key = try scanner.nextKey() {
                    stage = .value(isItems: key == name && !isFound)
                } else {
                    stage = .end
                    if !isFound { outcome = .missing }
                }
            case .value(isItems: true):
                try scanner.beginArray()
                isFound = true
                stage = .items
            case .value(isItems: false):
                try scanner.skipValue()
                stage = .member
            case .items:
                if try scanner.nextElement() {
                    _ = try scanner.peekKind()
                    let before = UnsafeBufferPointer(rebasing: bytes[..<scanner.offset])
                    outcome = .item(try JSONBatchItem(&scanner), origin.advanced(over: before))
                } else {
                    stage = .member
                }
            case .end:
                try scanner.expectEnd()
                outcome = .ended
            }
            return (outcome, scanner.offset, scanner.state)
        }
        (self.stage, self.isFound, self.state, consumed) = (stage, isFound, newState, end)
        return outcome
    }
}

/// The members of a request or response of a JSON batch; each has some of them.
struct JSONBatchItem: Sendable {
    var id: String?
    var method: String?
    var url: String?
    var status: Int?
    var headers: [BatchHeader] = []
    var group: String?
    var dependsOn: [String] = []
    var condition: String?
    /// The body's JSON as it stands.
    private var raw: [UInt8] = []
    /// The body where it is a string.
    private var text: String?

    init(_ scanner: inout JSONScanner) throws(JSONError) {
        var members = JSONMemberSet()
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            try members.insert(key, in: scanner)
            switch key.string {
            case "id": id = try scanner.takeNull() ? nil : try scanner.readString()
            case "method": method = try scanner.readString()
            case "url": url = try scanner.readString()
            case "status": status = Int(truncatingIfNeeded: try scanner.readInt64())
            case "atomicityGroup": group = try scanner.takeNull() ? nil : try scanner.readString()
            case "if": condition = try scanner.takeNull() ? nil : try scanner.readString()
            case "dependsOn":
                try scanner.beginArray()
                while try scanner.nextElement() { dependsOn.append(try scanner.readString()) }
            case "headers":
                if try scanner.takeNull() { continue }
                try scanner.beginObject()
                while let name = try scanner.nextKey() {
                    headers.append(BatchHeader(name.string, try scanner.readString()))
                }
            case "body":
                var copy = scanner
                if try scanner.peekKind() == .string { text = try copy.readString() }
                let range = try scanner.skipValue()
                raw = scanner.rawBytes(range)
            default: try scanner.skipValue()
            }
        }
    }

    /// The body's bytes by its media type.
    func bytes(at position: JSONPosition) throws(BatchError) -> [UInt8] {
        switch JSONBatch.form(headers) {
        case .json: return raw
        case .text: return text.map { Array($0.utf8) } ?? raw
        case .binary:
            guard let text else { return raw }
            guard case .binary(let bytes)? = try? ODataValue(lexical: text, type: .binary) else {
                throw .at(
                    position, .malformedStartLine(String(text.prefix(40))), expected: "a body in base64url")
            }
            return bytes
        }
    }
}

extension BatchError {
    static func at(_ position: JSONPosition, _ reason: Reason, expected: String) -> BatchError {
        BatchError(reason: reason, offset: position.offset, line: position.line, expected: expected)
    }
}
