import ODataModel

/// Reads the requests or responses of a JSON batch in chunks (OData JSON Format 4.01, 19). Each item is returned as
/// soon as it is complete, and at most one item is kept in memory.
struct JSONBatchReader: Sendable {
    private enum Stage {
        case start, member, value(isItems: Bool), items, end
    }

    private enum Outcome {
        case item(JSONBatchItem, JSONPosition)
        case nothing, ended, missing(JSONPosition)
    }

    /// `requests` or `responses`.
    private let name: StaticString
    private var stage = Stage.start
    private var isFound = false
    private var count = 0

    private var chunks = JSONChunks()
    private var state = JSONScanner.State()

    init(_ name: StaticString) { self.name = name }

    mutating func append(_ bytes: some Sequence<UInt8>) { chunks.append(bytes) }

    mutating func finish() { chunks.finish() }

    /// Returns the next item with its position; `nil` if more bytes are needed, and after the last item.
    mutating func next() throws(BatchError) -> (item: JSONBatchItem, position: JSONPosition)? {
        while chunks.isReady() {
            switch try step() {
            case .nothing?, nil: continue
            case .ended?: return nil
            case .missing(let position)?: throw .at(position, .noMember("\(name)"), expected: "the member \(name)")
            case .item(let item, let position)?:
                count += 1
                guard count <= BatchPartLimits.maxParts else {
                    throw .at(position, .tooManyParts, expected: "at most \(BatchPartLimits.maxParts) parts")
                }
                return (item, position)
            }
        }
        guard chunks.pending <= BatchPartLimits.maxPartBytes else {
            throw .at(chunks.origin, .partTooLarge, expected: "at most \(BatchPartLimits.maxPartBytes) bytes")
        }
        return nil
    }

    private static func position(of scanner: JSONScanner) -> JSONPosition {
        scanner.error(.unexpectedEnd, expected: "").position
    }

    /// Reads one item or one member; `nil` when more bytes are needed.
    private mutating func step() throws(BatchError) -> Outcome? {
        let name = name
        var (stage, isFound) = (stage, isFound)
        do throws(JSONError) {
            let outcome = try chunks.scan(&state) { (scanner) throws(JSONError) -> Outcome in
                switch stage {
                case .start:
                    try scanner.beginObject()
                    stage = .member
                case .member:
                    guard let key = try scanner.nextKey() else {
                        stage = .end
                        return isFound ? .nothing : .missing(Self.position(of: scanner))
                    }
                    stage = .value(isItems: key == name && !isFound)
                case .value(isItems: true):
                    try scanner.beginArray()
                    isFound = true
                    stage = .items
                case .value(isItems: false):
                    try scanner.skipValue()
                    stage = .member
                case .items:
                    guard try scanner.nextElement() else {
                        stage = .member
                        return .nothing
                    }
                    _ = try scanner.peekKind()
                    let position = Self.position(of: scanner)
                    return .item(try JSONBatchItem(&scanner), position)
                case .end:
                    try scanner.expectEnd()
                    return .ended
                }
                return .nothing
            }
            if outcome != nil { (self.stage, self.isFound) = (stage, isFound) }
            return outcome
        } catch {
            throw .at(error.position, .json(error), expected: error.expected)
        }
    }
}

/// The members of a request or response in a JSON batch.
struct JSONBatchItem: Sendable {
    var id: String?
    var method: String?
    var url: String?
    var status: Int?
    var headers: [BatchHeader] = []
    var group: String?
    var dependsOn: [String] = []
    var condition: String?
    /// The raw JSON of the body.
    private var raw: [UInt8] = []
    /// The body if it is a string.
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

    /// Returns the bytes of the body, decoded according to its media type.
    func bytes(at position: JSONPosition) throws(BatchError) -> [UInt8] {
        switch JSONBatch.form(headers) {
        case .json: return raw
        case .text: return text.map { Array($0.utf8) } ?? raw
        case .binary:
            guard let text else { return raw }
            guard case .binary(let bytes)? = try? ODataValue(lexical: text, type: .binary) else {
                throw .at(
                    position, .malformedBody(String(text.prefix(40))),
                    expected: "a string in base64url, as for every media type that is neither JSON nor text")
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
