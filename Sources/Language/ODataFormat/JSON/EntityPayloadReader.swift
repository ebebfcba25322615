import ODataModel

/// The treatment of undeclared and invalid content by a reader.
public enum Strictness: Hashable, Sendable {
    /// Ignores undeclared properties of closed types, as clients should (OData 4.01, 5.2).
    case lenient
    /// Tolerates unreadable values in addition to `lenient`.
    ///
    /// An unreadable value affects only its property, which is then not loaded (`ControlInformation.unreadable`).
    /// Values in other unambiguous forms are accepted.
    case forgiving
    /// Rejects undeclared properties of closed types and duplicate members, as services should.
    case strict
}

/// A single entity as the body of a request or response.
public struct EntityPayload: Hashable, Sendable {
    /// The entity in the body.
    public var entity: ODataEntity
    /// The context URL.
    public var context: String?
}

/// Reads single entities in OData JSON (OData JSON Format 4.01, 6 to 9 and 15).
///
/// The reader includes control information in both notations, derived types, dynamic properties, expanded entities,
/// bindings and nested deltas.
///
/// ```swift
/// let reader = EntityPayloadReader(model: model)
/// let order = try reader.read(body, type: QualifiedName("Northwind", "Order")).entity
/// ```
public struct EntityPayloadReader: JSONValueReading, Sendable {
    /// The model of the service.
    public let model: EntityDataModel
    /// The treatment of undeclared properties.
    public let strictness: Strictness
    /// Whether numbers in strings are rejected, as in services.
    public var wantsNumbers: Bool { strictness == .strict }

    /// Creates a reader.
    public init(model: EntityDataModel, strictness: Strictness = .lenient) {
        self.model = model
        self.strictness = strictness
    }

    /// Whether an unreadable value affects only its property.
    public var isForgiving: Bool { strictness == .forgiving }

    /// Reads a whole body.
    ///
    /// - Parameters:
    ///   - bytes: the whole body.
    ///   - type: the declared type; the entity may state a derived type.
    /// - Throws: ``PayloadError`` with the position and the property path, or with the service's error object.
    public func read(_ bytes: [UInt8], type: QualifiedName) throws(PayloadError) -> EntityPayload {
        guard let shape = model.shape(type) else { throw .unknownType(type) }
        var serviceError: ODataErrorPayload?
        do throws(JSONError) {
            let payload = try JSONScanner.scan(bytes) { (scanner) throws(JSONError) -> EntityPayload? in
                scanner.takesBareNumbers = isForgiving
                serviceError = try Self.takeError(&scanner, shape)
                if serviceError != nil { return nil }
                let entity = try readInstance(&scanner, declared: type)
                try scanner.expectEnd()
                var payload = EntityPayload(entity: entity)
                if case .string(let context)? = entity.control.annotations["odata.context"] {
                    payload.context = context
                    payload.entity.control.annotations["odata.context"] = nil
                }
                return payload
            }
            if let payload { return payload }
        } catch {
            throw .malformed(error)
        }
        throw .service(serviceError ?? ODataErrorPayload(code: "", message: ""))
    }

    /// Reads an error object in place of an instance; returns `nil` if there is none.
    static func takeError(_ scanner: inout JSONScanner, _ shape: TypeShape) throws(JSONError) -> ODataErrorPayload? {
        guard shape.ordinal(of: "error") == nil, try scanner.peekKind() == .object else { return nil }
        var ahead = scanner
        try ahead.beginObject()
        guard let key = try ahead.nextKey(), key == "error" || key == "odata.error", try ahead.peekKind() == .object
        else { return nil }
        let error = try ODataErrorPayload(scanning: &ahead)
        scanner = ahead
        return error
    }

    /// Reads the next value as an entity or complex value.
    ///
    /// - Throws: `JSONError` with the position and the property path.
    public func readInstance(_ scanner: inout JSONScanner, declared: QualifiedName?) throws(JSONError) -> ODataEntity {
        try readInstance(&scanner, of: declared.flatMap { model.shape($0) } ?? .untyped)
    }

    /// Reads the next instance, for callers that know the shape of its type.
    func readInstance(_ scanner: inout JSONScanner, of shape: TypeShape) throws(JSONError) -> ODataEntity {
        var instance = InstanceInProgress(shape: shape)
        var next = 0
        try scanner.beginObject()
        while true {
            let shape = instance.entity.shape
            if try scanner.readProperties(
                of: shape, into: &instance.entity.values, next: &next, wantsNumbers: wantsNumbers,
                stopsAtUnreadable: isForgiving)
            {
                break
            }
            guard let key = try scanner.nextKey() else { break }
            if let ordinal = shape.ordinal(of: key, predicted: next) {
                next = ordinal + 1
                if strictness == .strict, instance.entity.values[ordinal] != nil { throw duplicate(key, scanner) }
                let property = shape.properties[ordinal]
                if isForgiving, instance.hasRead(property, ordinal) {
                    try readAgain(&scanner, property, ordinal, instance: &instance)
                    continue
                }
                do throws(JSONError) {
                    let type = instance.statedTypes.isEmpty ? property.type : instance.type(of: property)
                    instance.entity.values[ordinal] = try readProperty(
                        &scanner, property, control: &instance.entity.control
                    ) {
                        (scanner) throws(JSONError) in try readValue(&scanner, type: type)
                    }
                } catch {
                    throw error.within(property.name)
                }
            } else if let control = ControlName(key) {
                do throws(JSONError) {
                    try readControl(control, &scanner, instance: &instance)
                } catch {
                    throw error.within(key.string)
                }
            } else {
                try readUndeclared(key, &scanner, instance: &instance)
            }
        }
        instance.forgetUnreadable()
        return instance.finished()
    }

    // MARK: Properties

    /// Reads the second value of a property, which is unreadable if the values differ: their meaning is undefined.
    private func readAgain(
        _ scanner: inout JSONScanner, _ property: Property, _ ordinal: Int, instance: inout InstanceInProgress
    ) throws(JSONError) {
        let start = scanner
        let type = instance.type(of: property)
        let reading = try readForgivingly(&scanner, property) { (scanner) throws(JSONError) in
            try readValue(&scanner, type: type)
        }
        if case .value(let value) = reading, value == instance.entity.values[ordinal] { return }
        instance.entity.values[ordinal] = nil
        var again = start
        instance.entity.control.unreadable[property.name] = UnreadableValue(
            text: again.rawText(try again.skipUncheckedValue()), reason: "expected each member name once")
    }

    /// Reads an expanded navigation property, a dynamic property, or a property of a derived type.
    private func readUndeclared(
        _ key: JSONString, _ scanner: inout JSONScanner, instance: inout InstanceInProgress
    ) throws(JSONError) {
        let name = key.string
        do throws(JSONError) {
            if let navigation = instance.entity.shape.navigationProperty(name) {
                if strictness == .strict, instance.entity.related[name] != nil { throw duplicate(key, scanner) }
                try readRelated(&scanner, navigation, into: &instance)
                return
            }
            if let shape = try instance.typeAhead({ () throws(JSONError) in try typeAhead(scanner) }) {
                // The type follows its properties, because the order of members is free unless streaming was
                // requested.
                instance.adopt(shape)
                if let ordinal = shape.ordinal(of: name) {
                    let property = shape.properties[ordinal]
                    instance.entity.values[ordinal] = try readProperty(
                        &scanner, property, control: &instance.entity.control
                    ) {
                        (scanner) throws(JSONError) in try readValue(&scanner, type: property.type)
                    }
                    return
                }
                if let navigation = shape.navigationProperty(name) {
                    try readRelated(&scanner, navigation, into: &instance)
                    return
                }
            }
            guard instance.entity.shape.isOpen else {
                if strictness == .strict {
                    throw scanner.error(
                        .unknownProperty(name), at: key.offset, expected: "a property of \(instance.entity.shape.name)")
                }
                try scanner.skipValue()
                return
            }
            if strictness == .strict, instance.entity.dynamicProperties[name] != nil { throw duplicate(key, scanner) }
            let type = instance.statedTypes[name] ?? .untyped("Edm.Untyped")
            instance.entity.dynamicProperties[name] = try readValue(&scanner, type: type)
        } catch {
            throw error.within(name)
        }
    }

    private func duplicate(_ key: JSONString, _ scanner: JSONScanner) -> JSONError {
        scanner.error(.duplicateMember(key.string), at: key.offset, expected: "each member name once")
    }

    /// Returns the type that a later member of the object states.
    private func typeAhead(_ scanner: JSONScanner) throws(JSONError) -> TypeShape? {
        var ahead = scanner
        try ahead.skipValue()
        while let key = try ahead.nextKey() {
            if key == "@odata.type" || key == "@type", try ahead.peekKind() == .string {
                return shape(stated: try ahead.readString())
            }
            try ahead.skipValue()
        }
        return nil
    }

    private func shape(stated text: String) -> TypeShape? {
        model.shape(stated: model.typeReference(fragment: text))
    }

    /// Reads related entities. A forgiving reader records unreadable ones, and passes over null in a collection.
    private func readRelated(
        _ scanner: inout JSONScanner, _ navigation: NavigationProperty, into instance: inout InstanceInProgress
    ) throws(JSONError) {
        let start = scanner
        do throws(JSONError) {
            instance.entity.related[navigation.name] = try readRelated(&scanner, navigation)
        } catch {
            guard isForgiving, !error.needsMoreData else { throw error }
            scanner = start
            let raw = scanner.rawText(try scanner.skipUncheckedValue())
            instance.entity.control.unreadable[navigation.name] = UnreadableValue(
                text: raw, reason: "expected \(error.expected)")
        }
    }

    private func readRelated(
        _ scanner: inout JSONScanner, _ navigation: NavigationProperty
    ) throws(JSONError) -> RelatedEntities {
        if try scanner.takeNull() { return .none }
        guard navigation.isCollection else { return .one(try readInstance(&scanner, declared: navigation.target)) }
        return .many(try readMany(&scanner, navigation.target))
    }

    // MARK: Control information

    private func readControl(
        _ control: ControlName, _ scanner: inout JSONScanner, instance: inout InstanceInProgress
    ) throws(JSONError) {
        guard control.property.isEmpty else { return try readPropertyControl(control, &scanner, instance: &instance) }
        switch control.kind {
        case .id: instance.entity.control.id = try text(&scanner)
        case .etag: instance.entity.control.etag = try text(&scanner)
        case .editLink: instance.entity.control.editLink = try text(&scanner)
        case .readLink: instance.entity.control.readLink = try text(&scanner)
        case .mediaReadLink: instance.entity.control.mediaReadLink = try text(&scanner)
        case .mediaContentType: instance.entity.control.mediaContentType = try text(&scanner)
        case .mediaEtag: instance.entity.control.mediaEtag = try text(&scanner)
        case .type:
            let start = scanner.offset
            guard let stated = try text(&scanner) else { return }
            instance.hasStatedType = true
            if let shape = shape(stated: stated) {
                instance.entity.control.type = shape.name
                instance.adopt(shape)
            } else if strictness == .strict {
                throw scanner.error(.invalidValue(stated), at: start, expected: "a structured type of the service")
            } else {
                instance.entity.control.annotations["odata.type"] = .string(stated)
            }
        case .removed:
            var reason: String?
            if try scanner.peekKind() == .object {
                try scanner.beginObject()
                while let key = try scanner.nextKey() {
                    if key == "reason" { reason = try text(&scanner) } else { try scanner.skipValue() }
                }
            } else {
                try scanner.skipValue()
            }
            // Without a reason, the entity left the result for an unstated reason.
            instance.entity.control.removedReason = reason ?? "changed"
        default:
            instance.entity.control.annotations[control.annotationName] = try readValue(
                &scanner, type: .untyped("Edm.Untyped"))
        }
    }

    private func readPropertyControl(
        _ control: ControlName, _ scanner: inout JSONScanner, instance: inout InstanceInProgress
    ) throws(JSONError) {
        let property = control.property
        switch control.kind {
        case .type:
            let start = scanner.offset
            guard let stated = try text(&scanner) else { return }
            let type = model.typeReference(fragment: stated)
            instance.statedTypes[property] = type
            // The value may precede its type and is then converted from its JSON form.
            guard let value = instance.entity.dynamicProperties[property] else { return }
            guard let typed = value.seen(as: type, model: model) else {
                throw scanner.error(.invalidValue(stated), at: start, expected: "the type of the value before it")
            }
            instance.entity.dynamicProperties[property] = typed
        case .bind: instance.bindings[property, default: []] += try readBinding(&scanner)
        case .count:
            let value = try readValue(&scanner, type: .primitive(.int64))
            if case .integer(let count) = value { instance.counts[property] = count }
        case .nextLink:
            // Without its link, the rest of the collection would be lost.
            let link = try scanner.takeNull() ? nil : try scanner.readString()
            instance.nextLinks[property] = link.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
        case .delta:
            let navigation = instance.entity.shape.navigationProperty(property)
            guard let navigation, try scanner.peekKind() == .array else {
                try scanner.skipValue()
                return
            }
            instance.entity.related[property] = .many(try readMany(&scanner, navigation.target))
            instance.entity.control.annotations["\(property)@odata.delta"] = .boolean(true)
        default:
            instance.entity.control.annotations[control.annotationName] = try readValue(
                &scanner, type: .untyped("Edm.Untyped"))
        }
    }

    /// Reads the ids of `Customer@odata.bind`: one id or an array (OData JSON Format 4.0, 8.5).
    private func readBinding(_ scanner: inout JSONScanner) throws(JSONError) -> [String] {
        guard try scanner.peekKind() == .array else { return try text(&scanner).map { [$0] } ?? [] }
        var ids: [String] = []
        try scanner.beginArray()
        while try scanner.nextElement() { ids.append(try scanner.readString()) }
        return ids
    }

    /// Reads a text; returns `nil` for null, and for another value unless the reader is strict.
    private func text(_ scanner: inout JSONScanner) throws(JSONError) -> String? {
        if strictness != .strict, try scanner.peekKind() != .string {
            try scanner.skipValue()
            return nil
        }
        return try scanner.takeNull() ? nil : try scanner.readString()
    }
}
