public import Foundation
public import ODataModel

/// How entities are searched for a text; an app's own way takes the place of ours.
///
/// ```swift
/// struct Soundex: EntitySearch {
///     func matcher(for text: String, locale: Locale) -> SearchMatcher {
///         let wanted = soundex(text)
///         return SearchMatcher { fields in fields.contains { soundex($0) == wanted } }
///     }
/// }
/// let hits = try await cache.search("Meier", in: "Customers", by: Soundex())
/// ```
public protocol EntitySearch: Sendable {
    /// Makes the test for one text, which is then put to every entity.
    ///
    /// - Throws: ``SearchError`` for a text that cannot be searched for.
    func matcher(for text: String, locale: Locale) throws -> SearchMatcher
}

/// The test whether an entity is a hit.
public struct SearchMatcher: Sendable {
    /// Whether one of the texts of the searchable properties is a hit.
    public let matches: @Sendable (_ fields: [String]) throws -> Bool

    /// Makes a test.
    public init(_ matches: @escaping @Sendable (_ fields: [String]) throws -> Bool) { self.matches = matches }
}

extension EntityCache {
    /// The entities of a collection in whose searchable properties a text is found, those within complex properties
    /// included.
    ///
    /// - Parameters:
    ///   - text: What is looked for; nothing, or blanks alone, finds every entity.
    ///   - collection: The entity set.
    ///   - search: How; words that begin with one of the words of the text if not said.
    ///   - locale: The language, by whose rules upper and lower case are the same.
    /// - Returns: The hits, in the order in which the entities came.
    /// - Throws: ``SearchError``, ``CacheError/noModel``, ``CacheError/unknownCollection(_:)``.
    public func search(
        _ text: String, in collection: String, by search: any EntitySearch = SearchStrategy.wordPrefix,
        locale: Locale = .current
    ) async throws -> [ODataEntity] {
        guard let model = await model else { throw CacheError.noModel }
        guard model.entitySet(collection) != nil else { throw CacheError.unknownCollection(collection) }
        let matcher = try search.matcher(for: text, locale: locale)
        let fields = SearchedFields(model)
        return try await entities(of: collection).filter { try matcher.matches(fields.texts(of: $0)) }
    }
}

/// The texts of entities that searches look into.
private struct SearchedFields {
    private let model: EntityDataModel

    init(_ model: EntityDataModel) { self.model = model }

    func texts(of entity: ODataEntity) -> [String] {
        var texts: [String] = []
        // Where the metadata say of some properties that they are searchable, the others are not.
        collect(entity, all: !hasMarks(entity.shape), into: &texts)
        return texts
    }

    private func collect(_ entity: ODataEntity, all: Bool, into texts: inout [String]) {
        for (property, value) in zip(entity.shape.properties, entity.values) {
            guard let value else { continue }
            collect(value, all: all, isMarked: property.isSearchable, into: &texts)
        }
    }

    private func collect(_ value: ODataValue, all: Bool, isMarked: Bool, into texts: inout [String]) {
        switch value {
        case .null: break
        case .string(let text): if all || isMarked { texts.append(text) }
        case .complex(let inner): collect(inner, all: all || isMarked, into: &texts)
        case .collection(let members):
            for member in members { collect(member, all: all, isMarked: isMarked, into: &texts) }
        default: if isMarked, let text = value.lexicalText { texts.append(text) }
        }
    }

    /// Whether the metadata say of any property of a type, or within one, that it is searchable.
    private func hasMarks(_ shape: TypeShape) -> Bool {
        var waiting = [shape]
        var seen: Set<QualifiedName> = [shape.name]
        while let shape = waiting.popLast() {
            for property in shape.properties {
                if property.isSearchable { return true }
                guard case .complex(let name?) = property.type.element, seen.insert(name).inserted,
                    let inner = model.shape(name)
                else { continue }
                waiting.append(inner)
            }
        }
        return false
    }
}

extension TypeShape {
    /// The properties that searches look into: those that the metadata say are searchable (`sap:searchable`,
    /// `gp:use-in-search`); where they say it of none, all texts.
    public var searchableProperties: [String] {
        let marked = properties.filter(\.isSearchable)
        return (marked.isEmpty ? properties.filter { $0.type == .primitive(.string) } : marked).map(\.name)
    }
}
