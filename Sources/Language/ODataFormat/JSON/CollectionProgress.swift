import ODataModel

/// The progress of reading a collection. A step that runs out of bytes changes nothing and is repeated with more
/// bytes.
struct CollectionProgress: Sendable {
    enum Stage: Hashable {
        case start, member, memberValue(String), elements, ended
    }

    enum Outcome {
        case element(CollectionPayloadReader.Element)
        case serviceError(ODataErrorPayload)
        case nothing
        case ended
    }

    let reader: EntityPayloadReader
    let type: QualifiedName
    /// The shape of `type`, which avoids a lookup for each element.
    private let shape: TypeShape
    var state = JSONScanner.State()
    private var stage = Stage.start
    private var summary = CollectionSummary()
    private var hasValue = false
    /// The reader of elements in verbose JSON; `nil` for the light formats.
    private let verbose: VerboseEntityReader?
    /// Whether the object with the name `d` is open.
    private var isWithinD = false

    init(reader: EntityPayloadReader, type: QualifiedName, dialect: JSONDialect) {
        self.reader = reader
        self.type = type
        shape = reader.model.shape(type) ?? .untyped
        verbose =
            dialect == .verbose ? VerboseEntityReader(model: reader.model, strictness: reader.strictness) : nil
    }

    /// Whether the next token is an element or the end of the array.
    var isAmongElements: Bool { stage == .elements && verbose == nil }

    /// Reads one element, or one member's name or value.
    mutating func step(_ scanner: inout JSONScanner) throws(JSONError) -> Outcome {
        let before = stage
        do throws(JSONError) {
            return try advance(&scanner)
        } catch {
            stage = before
            throw error
        }
    }

    private mutating func advance(_ scanner: inout JSONScanner) throws(JSONError) -> Outcome {
        switch stage {
        case .start:
            try scanner.beginObject()
            stage = .member
        case .member:
            if let key = try scanner.nextKey() {
                stage = .memberValue(key.string)
            } else if isWithinD {
                isWithinD = false
            } else {
                guard hasValue else {
                    let expected = verbose == nil ? "the member value" : "the member d with results"
                    throw scanner.error(.unexpected("no such member"), expected: expected)
                }
                stage = .ended
                return .element(.finished(summary))
            }
        case .memberValue(let name):
            if name == "error" || name == "odata.error", try scanner.peekKind() == .object {
                let error = try ODataErrorPayload(scanning: &scanner)
                stage = .ended
                return .serviceError(error)
            }
            try readMember(name, &scanner)
        case .elements:
            if try scanner.nextElement() { return try readAnyElement(&scanner) }
            stage = .member
        case .ended:
            try scanner.expectEnd()
            return .ended
        }
        return .nothing
    }

    private mutating func readMember(_ name: String, _ scanner: inout JSONScanner) throws(JSONError) {
        if try isVerboseWrapper(name, &scanner) { return }
        if name == (verbose == nil ? "value" : "results") { return try beginElements(&scanner) }
        stage = .member
        if verbose != nil, name.begins(with: "__") { return try readVerboseControl(name, &scanner) }
        guard let control = Self.control(name) else {
            try scanner.skipValue()
            return
        }
        do throws(JSONError) {
            switch control {
            case "context", "metadata": summary.context = try passing(&scanner, text)
            // Without its link, the rest of the collection would be lost.
            case "nextLink": summary.nextLink = try link(&scanner)
            case "deltaLink": summary.deltaLink = try passing(&scanner, link)
            case "count": summary.count = try passing(&scanner, count)
            case _ where control.has("."):
                summary.annotations[control] = try reader.readValue(&scanner, type: .untyped("Edm.Untyped"))
            default: try scanner.skipValue()
            }
        } catch {
            throw error.within(name)
        }
    }

    private mutating func beginElements(_ scanner: inout JSONScanner) throws(JSONError) {
        try scanner.beginArray()
        hasValue = true
        stage = .elements
    }

    /// Reads the start of the value of `d`: an array in V1, or an object with `results` since V2.
    private mutating func isVerboseWrapper(_ name: String, _ scanner: inout JSONScanner) throws(JSONError) -> Bool {
        guard verbose != nil, name == "d", !isWithinD, !hasValue else { return false }
        if try scanner.peekKind() == .array {
            try beginElements(&scanner)
        } else {
            try scanner.beginObject()
            isWithinD = true
            stage = .member
        }
        return true
    }

    private mutating func readVerboseControl(_ name: String, _ scanner: inout JSONScanner) throws(JSONError) {
        do throws(JSONError) {
            switch name {
            case "__count": summary.count = try passing(&scanner, count)
            case "__next": summary.nextLink = try link(&scanner)
            case "__delta": summary.deltaLink = try passing(&scanner, link)
            default: try scanner.skipValue()
            }
        } catch {
            throw error.within(name)
        }
    }

    /// Returns the name of control information of the whole collection, without its prefix.
    private static func control(_ name: String) -> String? {
        for prefix in ["@odata.", "odata.", "@"] {
            if let rest = name.rest(behind: prefix) { return String(rest) }
        }
        return nil
    }

    /// Reads information that the rows do not need; returns `nil` if a lenient reader cannot read it.
    private func passing<Value>(
        _ scanner: inout JSONScanner, _ read: (inout JSONScanner) throws(JSONError) -> Value?
    ) throws(JSONError) -> Value? {
        let start = scanner
        do throws(JSONError) {
            return try read(&scanner)
        } catch {
            guard !error.needsMoreData, reader.strictness != .strict else { throw error }
            scanner = start
            try scanner.skipValue()
            return nil
        }
    }

    private func count(_ scanner: inout JSONScanner) throws(JSONError) -> Int64? {
        if case .integer(let count) = try scanner.readPrimitive(.int64) { count } else { nil }
    }

    private func text(_ scanner: inout JSONScanner) throws(JSONError) -> String? {
        try scanner.takeNull() ? nil : try scanner.readString()
    }

    /// Reads a link; returns `nil` for null and for blank text, which some services write instead of null.
    private func link(_ scanner: inout JSONScanner) throws(JSONError) -> String? {
        guard let link = try text(&scanner), !link.allSatisfy(\.isWhitespace) else { return nil }
        return link
    }

    // MARK: Elements

    /// Reads an element. A forgiving reader returns an element that it cannot read as an entity without values, whose
    /// key is unreadable.
    private mutating func readAnyElement(_ scanner: inout JSONScanner) throws(JSONError) -> Outcome {
        let start = scanner
        do throws(JSONError) {
            return try readElement(&scanner)
        } catch {
            guard reader.isForgiving, !error.needsMoreData else { throw error }
            scanner = start
            let raw = scanner.rawText(try scanner.skipUncheckedValue())
            // A removal that is passed over would leave a row that does not exist any more.
            guard !Self.removals.contains(where: { raw.contains($0) }) else { throw error }
            var entity = ODataEntity(shape: shape)
            entity.control.unreadable[shape.key.first?.path ?? ""] = UnreadableValue(
                text: raw, reason: "expected \(error.expected)")
            return .element(.entity(entity))
        }
    }

    private static let removals = ["@removed", ".removed", "/$deletedEntity", "/$deletedLink", "/$link"]

    private mutating func readElement(_ scanner: inout JSONScanner) throws(JSONError) -> Outcome {
        // The first member usually identifies the kind of element. An element that is not an entity of the
        // collection should begin with its own context (OData JSON Format 4.01, 4.6.1).
        let start = scanner
        var declared: QualifiedName?
        var isFirst = false
        var ahead = scanner
        try ahead.beginObject()
        if let key = try ahead.nextKey() {
            if Self.isContext(key) {
                isFirst = true
                let context = try ahead.readString()
                if let outcome = try readForeign(context, &scanner) { return outcome }
                declared = reader.model.entityType(context: context)
            } else if key == "error", let error = try EntityPayloadReader.takeError(&scanner, shape) {
                return .serviceError(error)
            }
        }
        let entity: ODataEntity
        do throws(JSONError) {
            entity = try readEntity(&scanner, declared)
        } catch {
            // An element of another kind may be unreadable as an entity.
            guard !isFirst, !error.needsMoreData, let context = try Self.context(of: start) else { throw error }
            scanner = start
            if let outcome = try readForeign(context, &scanner) { return outcome }
            guard let declared = reader.model.entityType(context: context), declared != shape.name else { throw error }
            return Self.outcome(try readEntity(&scanner, declared))
        }
        if !isFirst, case .string(let context)? = entity.control.annotations["odata.context"] {
            var again = start
            if let outcome = try readForeign(context, &again) {
                scanner = again
                return outcome
            }
            if let declared = reader.model.entityType(context: context), declared != entity.shape.name {
                again = start
                let entity = try readEntity(&again, declared)
                scanner = again
                return Self.outcome(entity)
            }
        }
        return Self.outcome(entity)
    }

    private static func outcome(_ entity: ODataEntity) -> Outcome {
        guard let reason = entity.control.removedReason else { return .element(.entity(entity)) }
        return .element(.removed(id: entity.control.id, entity: entity, reason: reason))
    }

    private func readEntity(
        _ scanner: inout JSONScanner, _ declared: QualifiedName?
    ) throws(JSONError) -> ODataEntity {
        if let verbose { return try verbose.readInstance(&scanner, declared: declared ?? type) }
        return try declared == nil
            ? reader.readInstance(&scanner, of: shape) : reader.readInstance(&scanner, declared: declared)
    }

    private static func isContext(_ key: JSONString) -> Bool {
        key.firstByte == UInt8(ascii: "@") && (key == "@odata.context" || key == "@context")
    }

    /// Returns the context of the object at a scanner, anywhere in the object.
    private static func context(of start: JSONScanner) throws(JSONError) -> String? {
        var scanner = start
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            if isContext(key), try scanner.peekKind() == .string { return try scanner.readString() }
            try scanner.skipValue()
        }
        return nil
    }

    /// Reads a deleted entity in the notation of 4.0, or a link.
    private func readForeign(
        _ context: String, _ scanner: inout JSONScanner
    ) throws(JSONError) -> Outcome? {
        let isDeletedEntity = context.ends(with: "/$deletedEntity")
        let isDeletedLink = context.ends(with: "/$deletedLink")
        guard isDeletedEntity || isDeletedLink || context.ends(with: "/$link") else { return nil }
        try scanner.beginObject()
        var members: [String: String] = [:]
        while let key = try scanner.nextKey() {
            if try scanner.peekKind() == .string {
                members[key.string] = try scanner.readString()
            } else {
                try scanner.skipValue()
            }
        }
        if isDeletedEntity {
            let id = members["id"] ?? members["@id"] ?? members["@odata.id"]
            return .element(.removed(id: id, entity: nil, reason: members["reason"] ?? "changed"))
        }
        guard let source = members["source"], let relationship = members["relationship"] else {
            throw scanner.error(
                .unexpected("a link without them"), expected: "the members source and relationship")
        }
        let link = DeltaLink(source: source, relationship: relationship, target: members["target"])
        return .element(isDeletedLink ? .deletedLink(link) : .link(link))
    }
}
