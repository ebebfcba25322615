import ODataModel
import ODataQuery

/// The context URL of a response, which describes its payload (OData Protocol 4.01, 10 *Context URL*).
///
/// ```swift
/// let context = PayloadContext(for: url, bound: bound, isDelta: false)
/// context?.text  // $metadata#Orders(OrderID,Customer(Name))
/// ```
public struct PayloadContext: Hashable, Sendable {
    /// The text of the URL, relative to the service root.
    public var text: String

    /// The kind of payload that a context URL describes.
    public enum Content: Hashable, Sendable {
        /// The service document.
        case serviceDocument
        /// A collection of entities.
        case collection(TypeShape)
        /// One entity.
        case entity(TypeShape)
        /// Changes to a collection.
        case delta(TypeShape)
        /// A value other than an entity.
        case value(TypeReference)
        /// References to entities.
        case references(isCollection: Bool)
    }

    /// Creates the context URL of the response to a request; `nil` if the payload has none, such as a count.
    ///
    /// - Parameters:
    ///   - url: the URL of the request, from which key values and the selection are taken.
    ///   - bound: the same URL, resolved.
    ///   - isDelta: whether the payload has changes instead of entities.
    ///   - owner: the id of the entity that a property belongs to, if the URL does not contain it.
    ///   - instance: the type of a single entity in the payload, which may derive from the type of the URL.
    ///   - version: the version of the response. Version 4.0 lists fewer of the expanded properties.
    public init?(
        for url: ODataURL, bound: BoundURL, isDelta: Bool = false, owner: String? = nil,
        instance: QualifiedName? = nil, version: ODataVersion = .v401
    ) {
        let writer = PayloadContextWriter(url: url, bound: bound, owner: owner, instance: instance, version: version)
        guard let fragment = writer.fragment(isDelta: isDelta) else { return nil }
        text = fragment.isEmpty ? "$metadata" : "$metadata#\(fragment)"
    }

    /// Creates the context URL of one entity in a collection of several sets and singletons, such as `$all` (OData
    /// Protocol 4.01, 10.19); `nil` for an entity without an id of the service.
    ///
    /// - Parameters:
    ///   - entity: the entity.
    ///   - url: the URL of the request, from which the selection is taken.
    ///   - bound: the same URL, resolved.
    ///   - model: the model of the service.
    ///   - version: the version of the response.
    public init?(
        ofMember entity: ODataEntity, for url: ODataURL, bound: BoundURL, model: EntityDataModel,
        version: ODataVersion = .v401
    ) {
        let writer = PayloadContextWriter(
            url: url, bound: bound, owner: nil, instance: entity.shape.name, version: version)
        guard let fragment = writer.fragment(of: entity, in: model) else { return nil }
        text = "$metadata#\(fragment)"
    }

    /// Wraps a received context URL, absolute or relative.
    public init(_ text: String) { self.text = text }

    /// Returns the kind of the payload; `nil` if the text contains a name that the model does not declare.
    public func content(in model: EntityDataModel) -> Content? {
        guard let fragment = text.halves(atLast: "#")?.behind else {
            return text.ends(with: "$metadata") ? .serviceDocument : nil
        }
        if fragment == "$ref" { return .references(isCollection: false) }
        if fragment == "Collection($ref)" { return .references(isCollection: true) }
        var segments = Self.segments(fragment)
        guard !segments.isEmpty else { return .serviceDocument }
        let last = segments[segments.count - 1]
        if last.begins(with: "$") { segments.removeLast() }
        guard !segments.isEmpty, let content = resolve(segments, in: model) else {
            return Self.type(String(fragment), in: model)
        }
        switch (content, last) {
        case (.collection(let shape), "$entity"): return .entity(shape)
        case (.collection(let shape), "$delta"), (.collection(let shape), "$link"),
            (.collection(let shape), "$deletedLink"), (.collection(let shape), "$deletedEntity"):
            return .delta(shape)
        default: return content
        }
    }

    private func resolve(_ segments: [String], in model: EntityDataModel) -> Content? {
        var content: Content?
        for (index, segment) in segments.enumerated() {
            if index == 0 {
                if let shape = model.shape(ofSet: segment) {
                    content = .collection(shape)
                } else if let singleton = model.singleton(segment), let shape = model.shape(singleton.type) {
                    content = .entity(shape)
                } else {
                    return nil
                }
                continue
            }
            if segment.has("."), let name = QualifiedName(segment), let shape = model.shape(name) {
                switch content {
                case .collection: content = .collection(shape)
                case .entity: content = .entity(shape)
                default: content = .value(.complex(name))
                }
                continue
            }
            guard let shape = Self.shape(of: content, in: model) else { return nil }
            if let navigation = shape.navigationProperty(segment), let target = model.shape(navigation.target) {
                content = navigation.isCollection ? .collection(target) : .entity(target)
            } else if let property = shape.property(segment) {
                content = .value(property.type)
            } else {
                return nil
            }
        }
        return content
    }

    private static func shape(of content: Content?, in model: EntityDataModel) -> TypeShape? {
        switch content {
        case .collection(let shape), .entity(let shape): return shape
        case .value(let type):
            guard case .complex(let name?) = type.element else { return nil }
            return model.shape(name)
        default: return nil
        }
    }

    private static func type(_ fragment: String, in model: EntityDataModel) -> Content? {
        var text = fragment
        // A selection may follow a type's name.
        if !text.begins(with: "Collection("), let name = text.halves(atFirst: "(")?.before { text = String(name) }
        if text.ends(with: "/$entity") { text = String(text.unicodeScalars.dropLast("/$entity".utf8.count)) }
        let type = model.typeReference(text)
        switch type {
        case .entity(let name?): return model.shape(name).map { .entity($0) }
        case .collection(.entity(let name?)): return model.shape(name).map { .collection($0) }
        case .untyped(let name) where name != "Edm.Untyped" && name != "Edm.PrimitiveType": return nil
        default: return .value(type)
        }
    }

    /// Returns the segments without parentheses: keys and selections do not affect the type.
    private static func segments(_ fragment: Substring) -> [String] {
        var segments = [""]
        var depth = 0
        var isQuoted = false
        for scalar in fragment.unicodeScalars {
            switch scalar {
            case "'" where depth > 0: isQuoted.toggle()
            case "(" where !isQuoted: depth += 1
            case ")" where !isQuoted: depth -= 1
            case "/" where depth <= 0: segments.append("")
            // A plus sign marks a recursive expand.
            case "+" where depth <= 0: break
            default: if depth <= 0 { segments[segments.count - 1].unicodeScalars.append(scalar) }
            }
        }
        return segments.filter { !$0.isEmpty }
    }
}
