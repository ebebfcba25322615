import Foundation
import ODataModel
import ODataQuery
import ODataService
import OfflineOData

/// What the three editing commands share: a store, and properties read from arguments.
struct Edit {
    let store: StoreOptions
    let category: String?
    let json: Bool

    struct Report: Encodable {
        var done: String
        var entity: String
        var pending: Int
    }

    func run(_ body: (Editor) async throws -> Report) async throws {
        let provider = try await store.open()
        do {
            var report = try await body(Editor(provider: provider, category: category))
            report.pending = try await provider.changes.pending().count
            try provider.close()
            if json {
                print(JSONText(report).text)
            } else {
                print(
                    "\(report.done) \(report.entity). "
                        + Terminal.dim("\(Terminal.plural(report.pending, "change")) to push."))
            }
        } catch {
            try? provider.close()
            throw error
        }
    }

    struct Editor {
        let provider: OfflineStore
        let category: String?

        /// Whether not all of an entity set is here that is to be: its first download was broken off.
        func isIncomplete(_ set: String) async throws -> Bool {
            try await KeptSets(provider).incomplete.contains(set)
        }

        func collection(_ text: String) throws -> (ODataURL, TypeShape) {
            let url = try provider.url(typed: text, checked: false)
            guard case .entities(let shape, _) = try Binder(model: provider.model).bind(url).resource.target else {
                throw Failure(message: "\(text) is not an entity set.", status: .misused)
            }
            return (url, shape)
        }

        func single(_ text: String) throws -> (ODataURL, TypeShape) {
            let url = try provider.url(typed: text, checked: false)
            guard case .entity(let shape, _) = try Binder(model: provider.model).bind(url).resource.target else {
                throw Failure(
                    message: "\(text) is not a single entity.", advice: "Give its key, such as Orders(10248).",
                    status: .misused)
            }
            return (url, shape)
        }

        func entity(_ shape: TypeShape, _ arguments: [String], isNew: Bool) throws -> ODataEntity {
            var entity = ODataEntity(shape: shape)
            for argument in arguments {
                guard let mark = argument.utf8.firstIndex(of: UInt8(ascii: "=")), mark != argument.startIndex else {
                    throw Failure(message: "'\(argument)' is not NAME=VALUE.", status: .misused)
                }
                let name = String(argument[..<mark])
                let text = String(argument[argument.utf8.index(after: mark)...])
                if let relation = relation(name, shape) {
                    entity.related[relation.name] = try references(text, relation)
                    continue
                }
                entity[name] = try value(text, of: name, shape)
                try checkMayBeGiven(name, shape, isNew: isNew)
            }
            return entity
        }

        /// The navigation property that an argument sets: by its name, or as a body in JSON would, with `@odata.bind` or `@bind`.
        private func relation(_ name: String, _ shape: TypeShape) -> NavigationProperty? {
            for suffix in ["@odata.bind", "@bind"] where name.hasSuffix(suffix) {
                return shape.navigationProperty(String(name.dropLast(suffix.count)))
            }
            return shape.property(name) == nil ? shape.navigationProperty(name) : nil
        }

        /// The entities that a relation leads to: one, or several with blanks between them.
        private func references(_ text: String, _ navigation: NavigationProperty) throws -> RelatedEntities {
            if text == "null", !navigation.isCollection { return .none }
            let ids = navigation.isCollection ? text.split(separator: " ").map(String.init) : [text]
            for id in ids {
                let target = try? Binder(model: provider.model).bind(ODataURL(parsing: id)).resource.target
                guard case .entity? = target else {
                    throw Failure(
                        message: "\(navigation.name) leads to an entity, which '\(id)' is not.",
                        advice: "Give its address below the service root, such as Customers('ALFKI').", status: .misused
                    )
                }
            }
            return .references(ids)
        }

        /// A service ignores what may not be set (11.4.3); a person who set it must be told.
        private func checkMayBeGiven(_ name: String, _ shape: TypeShape, isNew: Bool) throws {
            if shape.property(name)?.isComputed == true {
                throw Failure(
                    message: "\(name) is computed by the service and cannot be set.", advice: "Leave it out.")
            }
            if !isNew, shape.key.contains(where: { $0.name == name }) {
                throw Failure(
                    message: "\(name) is part of the key, which cannot be changed.",
                    advice: "Create an entity with the new key and delete this one.")
            }
        }

        private func value(_ text: String, of name: String, _ shape: TypeShape) throws -> ODataValue {
            guard let property = shape.property(name) else {
                let near = QueryError.suggestions(for: name, among: shape.properties.map(\.name))
                throw Failure(
                    message: "\(shape.name.name) has no property \(name).",
                    advice: near.isEmpty ? nil : "Did you mean \(near.joined(separator: " or "))?")
            }
            if text == "null" { return .null }
            do {
                switch property.type {
                case .primitive(let type), .typeDefinition(_, let type):
                    return try ODataValue(lexical: text, type: type)
                case .enumeration(let type):
                    if let number = provider.model.enumType(type)?.value(of: text) { return .enumeration(number) }
                    fallthrough
                default:
                    return try ODataValue(json: Array(text.utf8), type: property.type, model: provider.model)
                }
            } catch {
                throw Failure(
                    message: "\(name) is \(property.type), which '\(text)' is not.",
                    advice: form(of: property.type, text))
            }
        }

        /// The most members of an enumeration that are named.
        private static let shownMembers = 10

        /// How a value of a type is given, unless the type allows any text.
        private func form(of type: TypeReference, _ text: String) -> String? {
            switch type {
            case .primitive(let type), .typeDefinition(_, let type): return type.writtenForm
            case .enumeration(let name):
                let members = provider.model.enumType(name)?.members.map(\.name) ?? []
                let near = QueryError.suggestions(for: text, among: members)
                if !near.isEmpty { return "Did you mean \(near.joined(separator: " or "))?" }
                let more = members.count > Self.shownMembers ? ", …" : "."
                return "Its members are \(members.prefix(Self.shownMembers).joined(separator: ", "))\(more)"
            default: return "It is given as JSON."
            }
        }

        func send(_ request: ODataRequest, _ done: String, url: ODataURL? = nil) async throws -> Report {
            let changing: any ODataProvider =
                category.map { provider.changes.provider(with: ChangeOptions(category: $0)) } ?? provider
            let response = try await changing.execute(request)
            var name = url?.description ?? request.url.description
            if case .entity(let entity) = response.body, let id = entity.control.id { name = id }
            if let location = response.location ?? response.entityID { name = location }
            return Report(done: done, entity: name, pending: 0)
        }
    }
}
