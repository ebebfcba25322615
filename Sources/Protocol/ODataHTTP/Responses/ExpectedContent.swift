import ODataFormat
import ODataModel
import ODataQuery
import ODataService

enum ExpectedContent {
    /// A collection of entities; rows without a declared type if the collection is the result of `$apply`.
    case collection(TypeShape, isResult: Bool)
    case entity(TypeShape)
    case value(TypeReference)
    case references
    case serviceDocument
    /// Bytes in a format other than OData's.
    case stream

    var isCollection: Bool { if case .collection = self { true } else { false } }

    /// Determines the content of the response to a request.
    init?(_ bound: BoundURL, method: ODataRequest.Method, model: EntityDataModel) {
        switch bound.resource.target {
        case .service: self = .serviceDocument
        case .entities(let shape, _):
            if method == .create {
                self = .entity(shape)
            } else if let query = bound.query, query.resultShape != shape {
                self = .collection(query.resultShape, isResult: true)
            } else {
                self = .collection(shape, isResult: false)
            }
        case .entity(let shape, _): self = .entity(shape)
        case .property(let property, _):
            self = property.type.primitive == .stream ? .stream : .value(property.type)
        case .references: self = .references
        case .operation(let operation):
            guard let type = operation.returnType else { return nil }
            self.init(type, model: model)
        case .rawValue: self = .stream
        case .crossJoin(_, let shape):
            self = .collection(bound.query?.resultShape ?? shape, isResult: true)
        case .metadata, .batch, .entityByID, .count, .all: return nil
        }
    }

    private init?(_ type: TypeReference, model: EntityDataModel) {
        switch type {
        case .entity(let name?):
            guard let shape = model.shape(name) else { return nil }
            self = .entity(shape)
        case .collection(.entity(let name?)):
            guard let shape = model.shape(name) else { return nil }
            self = .collection(shape, isResult: false)
        case .primitive(.stream): self = .stream
        default: self = .value(type)
        }
    }

    /// Determines the content from a context URL.
    init(_ content: PayloadContext.Content) {
        switch content {
        case .serviceDocument: self = .serviceDocument
        case .collection(let shape), .delta(let shape): self = .collection(shape, isResult: false)
        case .entity(let shape): self = .entity(shape)
        case .value(let type): self = .value(type)
        case .references: self = .references
        }
    }
}

/// The context URL of a body, at any position in the object.
enum ContextMember {
    static func read(_ bytes: [UInt8]) throws(JSONError) -> String? {
        try JSONScanner.scan(bytes) { (scanner) throws(JSONError) in
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                if key == "@odata.context" || key == "@context" { return try scanner.readString() }
                try scanner.skipValue()
            }
            return nil
        }
    }
}

/// A reader of the rows of an `$apply` result, whose shape follows only from the query (OData Data Aggregation 4.0,
/// 3.3).
struct ResultRows: JSONValueReading {
    let model: EntityDataModel
    let shape: TypeShape

    static func read(_ bytes: [UInt8], shape: TypeShape, model: EntityDataModel) throws(PayloadError) -> EntityPage {
        let rows = ResultRows(model: model, shape: shape)
        var page = EntityPage()
        var failure: ODataErrorPayload?
        do throws(JSONError) {
            try JSONScanner.scan(bytes) { (scanner) throws(JSONError) in
                try scanner.beginObject()
                while let key = try scanner.nextKey() {
                    switch key.string {
                    case "value":
                        try scanner.beginArray()
                        while try scanner.nextElement() { page.entities.append(try rows.row(&scanner)) }
                    case "@count", "@odata.count":
                        if case .integer(let count) = try scanner.readPrimitive(.int64) { page.count = count }
                    case "@nextLink", "@odata.nextLink": page.nextLink = try scanner.readString()
                    case "error":
                        failure = try? ODataErrorPayload(json: bytes)
                        try scanner.skipValue()
                    default: try scanner.skipValue()
                    }
                }
                try scanner.expectEnd()
            }
        } catch {
            throw .malformed(error)
        }
        if let failure { throw .service(failure) }
        return page
    }

    private func row(_ scanner: inout JSONScanner) throws(JSONError) -> ODataEntity {
        var row = ODataEntity(shape: shape)
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
            let name = key.string
            if name.has("@") {
                try scanner.skipValue()
            } else if shape.navigationProperty(name) != nil, try scanner.peekKind() == .object {
                row.related[name] = .one(try readInstance(&scanner, declared: nil))
            } else {
                let type = shape.property(name)?.type ?? .untyped("Edm.Untyped")
                row[name] = try readValue(&scanner, type: type)
            }
        }
        row.markUnchanged()
        return row
    }

    func readInstance(_ scanner: inout JSONScanner, declared: QualifiedName?) throws(JSONError) -> ODataEntity {
        let type = declared.map { TypeReference.complex($0) } ?? .untyped("Edm.Untyped")
        guard case .complex(let entity) = try ODataValue(json: &scanner, type: type, model: model) else {
            return ODataEntity(shape: .untyped)
        }
        return entity
    }
}
