import Foundation
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import ToolLanguage

/// The common part of the editing commands: a store, and properties read from arguments.
struct Edit {
    let store: StoreOptions
    let queuing: QueuingOptions
    let json: Bool

    struct Report: Encodable {
        var done: String
        var entity: String
        var pending: Int
    }

    func run(_ body: (Editor) async throws -> Report) async throws {
        let provider = try await store.open()
        do {
            var report = try await body(Editor(provider: provider, options: queuing.changeOptions))
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

    struct Editor: Sendable {
        let provider: OfflineStore
        let options: ChangeOptions
        /// The entities that the earlier lines of a change set are about, by the names that stand for them: `$1` and so
        /// on.
        var named: [String: String] = [:]

        /// Whether not all of an entity set is here that is to be: its first download was broken off.
        func isIncomplete(_ set: String) async throws -> Bool {
            try await KeptSets(provider).incomplete.contains(set)
        }

        /// An address with the entity in place of the name that it begins with.
        func address(_ text: String) throws -> String {
            guard text.hasPrefix("$"), !named.isEmpty else { return text }
            let name = String(text.prefix { $0 != "/" })
            guard let entity = named[name] else {
                throw Failure(
                    message: "\(name) stands for no earlier change.",
                    advice: "$1 is the entity of the first change, $2 that of the second.", status: .misused)
            }
            return entity + text.dropFirst(name.count)
        }

        func collection(_ text: String) throws -> (ODataURL, TypeShape) {
            let url = try provider.url(typed: address(text), checked: false)
            guard case .entities(let shape, _) = try Binder(model: provider.model).bind(url).resource.target else {
                throw Failure(message: "\(text) is not an entity set.", status: .misused)
            }
            return (url, shape)
        }

        func single(_ text: String) throws -> (ODataURL, TypeShape) {
            let url = try provider.url(typed: address(text), checked: false)
            guard case .entity(let shape, _) = try Binder(model: provider.model).bind(url).resource.target else {
                throw Failure(
                    message: "\(text) is not a single entity.", advice: "Give its key, such as Orders(10248).",
                    status: .misused)
            }
            return (url, shape)
        }

        /// - Parameter given: an entity that the properties are added to.
        func entity(
            _ shape: TypeShape, _ arguments: [String], isNew: Bool, adding given: ODataEntity? = nil
        ) throws -> ODataEntity {
            var entity = given ?? ODataEntity(shape: shape)
            for argument in arguments {
                let (name, text) = try Self.pair(argument)
                if let relation = relation(name, shape) {
                    entity.related[relation.name] = try references(text, relation)
                    continue
                }
                entity[name] = try value(text, of: name, shape)
                try checkMayBeGiven(name, shape, isNew: isNew)
            }
            return entity
        }

        /// The two sides of NAME=VALUE.
        static func pair(_ argument: String) throws -> (name: String, text: String) {
            guard let mark = argument.utf8.firstIndex(of: UInt8(ascii: "=")), mark != argument.startIndex else {
                throw Failure(message: "'\(argument)' is not NAME=VALUE.", status: .misused)
            }
            return (String(argument[..<mark]), String(argument[argument.utf8.index(after: mark)...]))
        }

        /// The navigation property that an argument sets: by its name, or as a body in JSON would, with `@odata.bind`
        /// or `@bind`.
        private func relation(_ name: String, _ shape: TypeShape) -> NavigationProperty? {
            for suffix in ["@odata.bind", "@bind"] where name.hasSuffix(suffix) {
                return shape.navigationProperty(String(name.dropLast(suffix.count)))
            }
            return shape.property(name) == nil ? shape.navigationProperty(name) : nil
        }

        /// The entities that a relation leads to: one, or several with blanks between them.
        private func references(_ text: String, _ navigation: NavigationProperty) throws -> RelatedEntities {
            if text == "null", !navigation.isCollection { return .none }
            let ids = try (navigation.isCollection ? text.split(separator: " ").map(String.init) : [text]).map(address)
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

        /// A service ignores properties that may not be set (11.4.3), so the tool refuses them.
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
                if shape.isOpen { return dynamicValue(text) }
                let near = QueryError.suggestions(for: name, among: shape.properties.map(\.name))
                throw Failure(
                    message: "\(shape.name.name) has no property \(name).",
                    advice: near.isEmpty ? nil : "Did you mean \(near.joined(separator: translated(" or ")))?")
            }
            return try value(text, of: name, property.type)
        }

        /// The value of a property that the metadata do not declare: null, a truth value, a number, or else a text.
        private func dynamicValue(_ text: String) -> ODataValue {
            if text == "null" { return .null }
            if text == "true" || text == "false" { return .boolean(text == "true") }
            return (try? ODataValue(lexical: text, type: .int64)) ?? (try? ODataValue(lexical: text, type: .decimal))
                ?? .string(text)
        }

        /// The value of a property or a parameter, read from an argument.
        func value(_ text: String, of name: String, _ type: TypeReference) throws -> ODataValue {
            if text == "null" { return .null }
            do {
                switch type {
                case .primitive(let type), .typeDefinition(_, let type):
                    return try ODataValue(lexical: text, type: type)
                case .enumeration(let type):
                    if let number = provider.model.enumType(type)?.value(of: text) { return .enumeration(number) }
                    fallthrough
                default:
                    return try ODataValue(json: Array(text.utf8), type: type, model: provider.model)
                }
            } catch {
                throw Failure(
                    message: "\(name) is \(type), which '\(text)' is not.", advice: form(of: type, text))
            }
        }

        /// The most members of an enumeration that are named.
        private static let shownMembers = 10

        /// How a value of a type is given, unless the type allows any text.
        private func form(of type: TypeReference, _ text: String) -> TerminalText? {
            switch type {
            case .primitive(let type), .typeDefinition(_, let type): return type.writtenForm
            case .enumeration(let name):
                let members = provider.model.enumType(name)?.members.map(\.name) ?? []
                let near = QueryError.suggestions(for: text, among: members)
                if !near.isEmpty { return "Did you mean \(near.joined(separator: translated(" or ")))?" }
                let more = members.count > Self.shownMembers ? ", …" : "."
                return "Its members are \(members.prefix(Self.shownMembers).joined(separator: ", "))\(more)"
            default: return "It is given as JSON."
            }
        }

        /// Makes a change by itself.
        func send(_ change: Change) async throws -> Report {
            let response = try await provider.changes.provider(with: options).execute(change.request)
            return Report(done: change.done, entity: change.entity(in: response), pending: 0)
        }
    }
}
