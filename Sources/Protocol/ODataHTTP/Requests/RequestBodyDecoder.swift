import HTTPTypes
import ODataFormat
import ODataModel
import ODataQuery
import ODataService

/// Decodes the body that a method and a resource require (OData Protocol 4.01, 11.4, 11.5 and 11.7).
struct RequestBodyDecoder {
    let decoder: RequestDecoder
    let method: ODataRequest.Method
    let bound: BoundURL
    let fields: HTTPFields

    func decode(_ body: ByteStream) async throws -> RequestBody {
        switch (bound.resource.target, method) {
        case (_, .read), (_, .delete): return .none
        case (.operation(let operation), _): return try await parameters(of: operation, body)
        case (.entities(let shape, _), .create):
            // A media entity accepts any media type (11.4.7.1).
            if shape.hasStream { return media(body) }
            return try await entity(shape, body)
        // The changes apply to each member (11.4.13).
        case (.entities(let shape, _), .update) where bound.resource.steps.contains(.each):
            return try await entity(shape, body)
        // The body contains changes to the collection, or all its members (11.4.12, 11.4.13).
        case (.entities(let shape, _), _): return try await changes(shape, body)
        case (.entity(let shape, _), _): return try await entity(shape, body)
        case (.property(let property, _), _) where property.type.primitive == .stream: return media(body)
        case (.property(let property, _), _): return try await value(property, body)
        case (.rawValue(nil), _): return media(body)
        case (.rawValue(let property?), _) where property.type.primitive == .stream: return media(body)
        case (.rawValue(let property?), _): return try await rawValue(property, body)
        case (.references(_, _, _, isCollection: true), .replace): return try await references(body)
        case (.references, _): return try await reference(body)
        case (.entityByID, _): throw ODataError.notImplemented("changing an entity by its id")
        case (.service, _), (.metadata, _), (.count, _), (.batch, _), (.all, _), (.crossJoin, _): return .none
        }
    }

    // MARK: Media types

    private var mediaType: MediaType? { fields[.contentType].flatMap { MediaType($0) } }

    /// Checks that the body is JSON in UTF-8 (OData Protocol 4.01, 8.1.1).
    private func requireJSON() throws(ODataError) {
        guard let type = mediaType else {
            throw unsupported(fields[.contentType].map { "\($0) is no media type" } ?? "Content-Type is missing")
        }
        guard type.matches("application", "json") else {
            throw unsupported("\(type.type)/\(type.subtype) cannot be read here")
        }
        if let charset = type["charset"]?.lowercased(), charset != "utf-8", charset != "utf8" {
            throw unsupported("JSON must be in UTF-8, not in \(charset)")
        }
        if let unknown = type.parameters.first(where: { !FormatParameters.names.contains($0.name) }) {
            throw unsupported("the format parameter \(unknown.name) is unknown")
        }
    }

    private func unsupported(_ reason: String) -> ODataError {
        ODataError(
            status: 415, code: "UnsupportedMediaType", message: "\(reason); application/json is expected.",
            target: "Content-Type")
    }

    private func json(_ body: ByteStream) async throws -> [UInt8] {
        // If the media type is missing too, the error is about the missing body.
        if fields[.contentType] != nil { try requireJSON() }
        guard let bytes = try await optionalJSON(body) else {
            throw ODataError(status: 400, code: "MissingBody", message: "The request has no body.")
        }
        return bytes
    }

    /// Returns the bytes of a JSON body; `nil` for an empty body of any media type.
    private func optionalJSON(_ body: ByteStream) async throws -> [UInt8]? {
        // A body with a wrong media type is refused before it is read.
        if body.length.map({ $0 > 0 }) ?? false { try requireJSON() }
        let bytes = try await body.collect(limit: decoder.maxBodySize)
        guard !bytes.isEmpty else { return nil }
        try requireJSON()
        return bytes
    }

    // MARK: Bodies

    private func entity(_ shape: TypeShape, _ body: ByteStream) async throws -> RequestBody {
        let bytes = try await json(body)
        let reader = EntityPayloadReader(model: decoder.model, strictness: .strict)
        do {
            let entity = try reader.read(bytes, type: shape.name).entity
            guard decoder.model.isType(entity.shape.name, shape.name) else {
                throw ODataError(
                    status: 400, code: "InvalidType",
                    message: "\(entity.shape.name) does not derive from \(shape.name).")
            }
            return .entity(entity)
        } catch let error as PayloadError {
            throw ODataError(body: error)
        }
    }

    /// Decodes changes to several entities as a delta, or all members of a collection.
    private func changes(_ shape: TypeShape, _ body: ByteStream) async throws -> RequestBody {
        let bytes = try await json(body)
        var reader = CollectionPayloadReader(model: decoder.model, type: shape.name, strictness: .strict)
        reader.append(bytes)
        reader.finish()
        var page = EntityPage()
        var isWhole = false
        do {
            while let element = try reader.next() {
                switch element {
                case .entity(let entity): page.append(.entity(entity))
                case .removed(let id, let entity, let reason):
                    guard method == .update else {
                        throw ODataError(
                            status: 400, code: "InvalidBody",
                            message: "PUT must contain all remaining members. Leave removed members out.")
                    }
                    guard id != nil || entity?.key != nil else {
                        throw ODataError(
                            status: 400, code: "InvalidBody", message: "A removed member needs its id or key.")
                    }
                    page.append(
                        .removed(
                            RemovedEntity(
                                id: id ?? "", key: entity?.key,
                                reason: RemovedEntity.Reason(rawValue: reason) ?? .deleted,
                                etag: entity?.control.etag)))
                case .link(let link): page.append(.link(try changed(link, isDeleted: false)))
                case .deletedLink(let link): page.append(.link(try changed(link, isDeleted: true)))
                case .finished: isWhole = true
                }
            }
        } catch let error as PayloadError {
            throw ODataError(body: error)
        }
        guard isWhole else {
            throw ODataError(status: 400, code: "InvalidBody", message: "The body has no end.")
        }
        return .delta(page)
    }

    /// Returns a changed link of a delta. A PUT contains members instead of links.
    private func changed(_ link: DeltaLink, isDeleted: Bool) throws(ODataError) -> ChangedLink {
        guard method == .update else {
            throw ODataError(status: 400, code: "InvalidBody", message: "PUT must contain members, and no links.")
        }
        return ChangedLink(
            source: link.source, relationship: link.relationship, target: link.target, isDeleted: isDeleted)
    }

    private func value(_ property: Property, _ body: ByteStream) async throws -> RequestBody {
        let bytes = try await json(body)
        do {
            // POST adds one member to a collection (11.4.9.4); PUT and PATCH contain the whole value.
            let type = method == .create ? property.type.element : property.type
            let value = try ValuePayload(json: bytes, type: type, model: decoder.model, strictness: .strict).value
            guard !value.isNull || property.isNullable || method == .create else {
                throw ODataError(
                    status: 400, code: "NotNullable", message: "\(property.name) must have a value.",
                    target: property.name)
            }
            return .value(value, property.type)
        } catch let error as PayloadError {
            throw ODataError(body: error)
        }
    }

    private func rawValue(_ property: Property, _ body: ByteStream) async throws -> RequestBody {
        if property.type.primitive == .stream { return media(body) }
        let bytes = try await body.collect(limit: decoder.maxBodySize)
        return .value(try RawValue.read(bytes, property.type, model: decoder.model), property.type)
    }

    private func media(_ body: ByteStream) -> RequestBody {
        .media(body, contentType: fields[.contentType] ?? "application/octet-stream")
    }

    private func reference(_ body: ByteStream) async throws -> RequestBody {
        let bytes = try await json(body)
        do {
            guard let id = try ReferencePayload(json: bytes).ids.first else {
                throw ODataError(
                    status: 400, code: "InvalidReference", message: "The body has no @id.", target: "@id")
            }
            return .reference(id)
        } catch let error as PayloadError {
            throw ODataError(body: error)
        }
    }

    /// Decodes the references to all entities that a collection is to link to (11.4.6.3).
    private func references(_ body: ByteStream) async throws -> RequestBody {
        let bytes = try await json(body)
        do {
            let payload = try ReferencePayload(json: bytes)
            guard payload.isCollection else {
                throw ODataError(
                    status: 400, code: "InvalidReference", message: "The body has no references under value.",
                    target: "value")
            }
            return .references(payload.ids)
        } catch let error as PayloadError {
            throw ODataError(body: error)
        }
    }

    private func parameters(of operation: ODataOperation, _ body: ByteStream) async throws -> RequestBody {
        // An action without parameters needs no body, and an empty body needs no media type (11.5.5.1).
        guard let bytes = try await optionalJSON(body) else { return .parameters(try checked([:], operation)) }
        do {
            return .parameters(
                try checked(
                    ParameterPayload.read(bytes, declared(operation), model: decoder.model), operation))
        } catch let error as PayloadError {
            throw ODataError(body: error)
        }
    }

    /// Returns the parameters of all overloads of an action, which have the same URL.
    private func declared(_ operation: ODataOperation) -> [ODataOperation.Parameter] {
        var declared: [ODataOperation.Parameter] = []
        for overload in decoder.model.overloads(of: operation) {
            for parameter in overload.ownParameters where !declared.contains(where: { $0.name == parameter.name }) {
                declared.append(parameter)
            }
        }
        return declared
    }

    private func checked(
        _ values: [String: ODataValue], _ operation: ODataOperation
    ) throws(ODataError) -> [String: ODataValue] {
        let overload = decoder.model.overload(of: operation, taking: Set(values.keys))
        for parameter in overload.ownParameters where !parameter.isNullable && !parameter.mayBeLeftOut {
            guard let value = values[parameter.name], !value.isNull else {
                throw ODataError(
                    status: 400, code: "MissingParameter",
                    message: "\(overload.name) needs the parameter \(parameter.name).", target: parameter.name)
            }
        }
        return values
    }
}

extension ODataError {
    /// Creates the 400 error for a body that cannot be read, with the position.
    init(body error: PayloadError) {
        switch error {
        case .malformed(let error):
            self.init(
                status: 400, code: "InvalidBody", message: error.description,
                target: error.path.isEmpty ? nil : error.path)
        case .malformedXML(let error):
            self.init(
                status: 400, code: "InvalidBody", message: error.description,
                target: error.path.isEmpty ? nil : error.path)
        case .service: self.init(status: 400, code: "InvalidBody", message: "The body is an error object.")
        case .noServiceDocument, .unknownType, .elementTooLarge, .tooLarge, .unsupported:
            self.init(status: 400, code: "InvalidBody", message: error.description)
        }
    }
}
