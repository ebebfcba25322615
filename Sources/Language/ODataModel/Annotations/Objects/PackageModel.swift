/// An object package: the meaning of the vocabulary `Outpost.Objects.V1` in a model, with the defaults for everything
/// that the document does not say. Metadata without the vocabulary describe a package too.
///
/// ```swift
/// let package = PackageModel(model)
/// for problem in package.problems { print(problem) }
/// print(package.name, package.sets["Customers"]?.group ?? "")
/// ```
public struct PackageModel: Sendable {
    /// A group of sets that are synchronized together.
    public struct Group: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The description.
        public var summary: String?
        /// Whether the service notifies devices of changes.
        public var notifiesChanges: Bool
        /// The shortest time between two notifications, as the text of an `Edm.Duration`.
        public var interval: String?
    }

    /// A parameter of a subscription or an object query.
    public struct Parameter: Hashable, Sendable {
        /// The name, which the text of the query has after `@`.
        public var name: String
        /// The type.
        public var type: PrimitiveType
        /// Whether null is allowed.
        public var isNullable: Bool
        /// The attribute that the parameter is compared with; `nil` if the text alone tells.
        public var attribute: String?
        /// The personalization key that gives the value if no other is given.
        public var personalizationKey: String?
        /// The value in its lexical form if no other is given.
        public var defaultValue: String?
    }

    /// A setting of a user that parameters of subscriptions follow.
    public struct Key: Hashable, Sendable {
        /// The places where a key is kept.
        public enum Scope: String, Hashable, Sendable {
            /// In the store of the device.
            case client = "Client"
            /// At the service, for all devices of the user.
            case server = "Server"
            /// In memory.
            case session = "Session"
        }

        /// The name.
        public var name: String
        /// The type.
        public var type: PrimitiveType
        /// Whether the key may be null.
        public var isNullable: Bool
        /// The place where it is kept.
        public var scope: Scope
        /// The value in its lexical form unless another is set.
        public var defaultValue: String?
    }

    /// A finder that the package declares.
    public struct Query: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The query options with parameters after `@`.
        public var text: String
        /// The parameters.
        public var parameters: [Parameter]
        /// Whether the query finds one object.
        public var isSingle: Bool
    }

    /// An entity set of the package.
    public struct SynchronizedSet: Sendable {
        /// The name of the set.
        public var name: String
        /// The type of its entities.
        public var type: QualifiedName
        /// The synchronization group.
        public var group: String
        /// The `$filter` over the parameters; `nil` if the whole set is synchronized.
        public var filter: String?
        /// The parameters of the filter.
        public var parameters: [Parameter]
        /// Whether the set holds the personalization keys of the service.
        public var isPersonalizationStore: Bool
        /// Whether the set holds the log records of the service.
        public var isLogRecords: Bool
    }

    /// The role of an action.
    public struct Role: Hashable, Sendable {
        /// The roles that an action can have.
        public enum Kind: String, Hashable, Sendable {
            /// It creates an entity.
            case create = "Create"
            /// It changes an entity.
            case update = "Update"
            /// It deletes an entity.
            case delete = "Delete"
            /// It does something else.
            case other = "Other"
        }

        /// The role.
        public var kind: Kind
        /// The attributes from which parameters are filled, by parameter.
        public var mapping: [String: String]
    }

    /// An error of a package.
    public struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// The model element at fault, such as `Crm.Customer/SalesOrders`.
        public var place: String
        /// The fault, the expected content and the remedy.
        public var reason: String

        /// Creates a problem.
        public init(_ place: String, _ reason: String) {
            self.place = place
            self.reason = reason
        }

        /// The place and the reason.
        public var description: String { "\(place): \(reason)" }
    }

    /// The name of the group of the package itself, which holds log records and personalization keys.
    public static let systemGroup = "system"

    /// The name of the package.
    public private(set) var name = ""
    /// The version.
    public private(set) var version = "0"
    /// The group of sets that name none.
    public private(set) var defaultGroup = "default"
    /// The prefix of generated types.
    public private(set) var namePrefix = ""
    /// All groups that are declared or used, by name.
    public private(set) var groups: [String: Group] = [:]
    /// The personalization keys in document order.
    public private(set) var keys: [Key] = []
    /// The entity sets by name.
    public private(set) var sets: [String: SynchronizedSet] = [:]
    /// The numbers of the entity types.
    public private(set) var numbers: [QualifiedName: Int32] = [:]
    /// The object queries by entity type.
    public private(set) var queries: [QualifiedName: [Query]] = [:]
    /// The types that are parts of other entities, by the navigation property that owns them.
    public private(set) var composites: [Owner: QualifiedName] = [:]
    /// The actions with roles by entity type, in the order of their names.
    public private(set) var roleActions: [QualifiedName: [RoleAction]] = [:]
    /// The errors of the package, in the order of the model.
    public private(set) var problems: [Problem] = []

    /// The navigation property by which a type is a part of another one.
    public struct Owner: Hashable, Sendable, CustomStringConvertible {
        /// The owning type.
        public var type: QualifiedName
        /// The navigation property.
        public var property: String

        /// The property as a path, such as `Crm.Customer/SalesOrders`.
        public var description: String { "\(type)/\(property)" }
    }

    /// Reads the package in a model.
    public init(_ model: EntityDataModel) {
        readContainer(model.container)
        for schema in model.schemas + model.includedSchemas {
            for type in schema.structuredTypes where type.kind == .entity { read(type, model) }
        }
        for set in model.container.entitySets { read(set) }
        roleActions = Self.roleActions(in: model)
        readComposites((model.schemas + model.includedSchemas).flatMap(\.structuredTypes))
        checkGroups(model)
        checkKeys(model.container)
    }

    /// The role of an action; `.other` if none is stated.
    public static func role(of operation: ODataOperation) -> Role {
        guard let value = operation.annotation(Vocabulary.objects + "OperationRole")?.value else {
            return Role(kind: .other, mapping: [:])
        }
        var mapping: [String: String] = [:]
        for pair in value.recordProperty("Parameters")?.members ?? [] {
            if let parameter = pair.text("Parameter") { mapping[parameter] = pair.text("Attribute") }
        }
        return Role(kind: value.recordProperty("Role")?.memberName.flatMap(Role.Kind.init) ?? .other, mapping: mapping)
    }
}

// MARK: Reading

extension PackageModel {
    private mutating func readContainer(_ container: EntityContainer) {
        let place = container.name.description
        let stated = container.annotation(Vocabulary.objects + "Package")?.value
        name = stated?.text("Name") ?? Self.defaultName(container)
        version = stated?.text("Version") ?? "0"
        defaultGroup = stated?.text("DefaultGroup") ?? "default"
        namePrefix = container.annotation(Vocabulary.objects + "NamePrefix")?.value?.plainText ?? ""
        for record in container.annotation(Vocabulary.objects + "SynchronizationGroups")?.value?.members ?? [] {
            guard let name = named(record, in: place, of: "SynchronizationGroups") else { continue }
            guard name != Self.systemGroup else {
                problems.append(Problem(place, "The group name system is reserved. Give the group another name."))
                continue
            }
            guard groups[name] == nil else {
                problems.append(Problem(place, "The group \(name) is declared twice. Remove one of the declarations."))
                continue
            }
            groups[name] = Group(
                name: name, summary: record.text("Description"),
                notifiesChanges: record.flag("NotifiesChanges") ?? false, interval: record.text("Interval"))
        }
        for record in container.annotation(Vocabulary.objects + "PersonalizationKeys")?.value?.members ?? [] {
            guard let name = named(record, in: place, of: "PersonalizationKeys"),
                let type = type(record, name, in: place)
            else { continue }
            guard !keys.contains(where: { $0.name == name }) else {
                problems.append(Problem(place, "The personalization key \(name) is declared twice."))
                continue
            }
            let scope = record.recordProperty("Scope")?.memberName
            guard let known = scope.map(Key.Scope.init) ?? .client else {
                problems.append(
                    Problem(
                        place,
                        "The personalization key \(name) has the scope \(scope ?? ""). Scopes are Client, Server and Session."
                    ))
                continue
            }
            keys.append(
                Key(
                    name: name, type: type, isNullable: record.flag("Nullable") ?? true, scope: known,
                    defaultValue: record.text("DefaultValue")))
        }
    }

    /// The name of a container without a trailing `Container`, `Entities` or `Service`; the last part of the namespace
    /// if nothing else is left.
    private static func defaultName(_ container: EntityContainer) -> String {
        var name = container.name.name
        for ending in ["Container", "Entities", "Service"] where name.hasSuffix(ending) {
            name.removeLast(ending.count)
        }
        guard name.isEmpty else { return name }
        return container.name.namespace.parts(between: ".").last.map(String.init) ?? container.name.namespace
    }

    private mutating func read(_ type: StructuredType, _ model: EntityDataModel) {
        let place = type.name.description
        var number = type.name.entityTypeNumber
        if let annotation = type.annotation(Vocabulary.objects + "EntityTypeNumber") {
            if let stated = type.statedEntityTypeNumber, let fitting = Int32(exactly: stated), fitting > 0 {
                number = fitting
            } else {
                problems.append(
                    Problem(
                        place,
                        "EntityTypeNumber is \(annotation.value?.plainText ?? "missing"). It must be from 1 to 2147483647."
                    ))
            }
        }
        if let other = numbers.first(where: { $0.value == number })?.key {
            problems.append(
                Problem(
                    place,
                    "It has the same number \(number) as \(other). Give one of them a number with the term EntityTypeNumber."
                ))
        }
        numbers[type.name] = number
        var found: [Query] = []
        for record in type.annotation(Vocabulary.objects + "ObjectQueries")?.value?.members ?? [] {
            guard let name = named(record, in: place, of: "ObjectQueries") else { continue }
            guard !found.contains(where: { $0.name == name }) else {
                problems.append(Problem(place, "The object query \(name) is declared twice."))
                continue
            }
            guard let text = record.text("Query") else {
                problems.append(Problem(place, "The object query \(name) has no Query. State its query options."))
                continue
            }
            found.append(
                Query(
                    name: name, text: text,
                    parameters: parameters(record.recordProperty("Parameters"), in: "\(place)/\(name)"),
                    isSingle: record.flag("IsSingle") ?? false))
        }
        if !found.isEmpty { queries[type.name] = found }
    }

    private mutating func read(_ set: EntitySet) {
        let place = set.name
        let isPersonalizationStore = set.tag(Vocabulary.objects + "PersonalizationStore") ?? false
        let isLogRecords = set.tag(Vocabulary.objects + "LogRecords") ?? false
        let stated = set.annotation(Vocabulary.objects + "SynchronizationGroup")?.value?.plainText
        let isOfSystem = isPersonalizationStore || isLogRecords
        if stated == Self.systemGroup, !isOfSystem {
            problems.append(Problem(place, "The group name system is reserved. Give the set another group."))
        }
        let group = isOfSystem ? Self.systemGroup : stated ?? defaultGroup
        if groups[group] == nil {
            groups[group] = Group(name: group, summary: nil, notifiesChanges: false, interval: nil)
        }
        let parameters = parameters(
            set.annotation(Vocabulary.objects + "SynchronizationParameters")?.value, in: place)
        for parameter in parameters {
            guard let key = parameter.personalizationKey else { continue }
            guard let known = keys.first(where: { $0.name == key }) else {
                problems.append(
                    Problem(
                        place,
                        "The parameter \(parameter.name) follows the personalization key \(key), which is not declared."
                    ))
                continue
            }
            guard known.type != parameter.type else { continue }
            problems.append(
                Problem(
                    place,
                    "The parameter \(parameter.name) is \(parameter.type.rawValue), its personalization key \(key) is \(known.type.rawValue)."
                ))
        }
        var filter = set.annotation(Vocabulary.objects + "SynchronizationFilter")?.value?.plainText
        if filter == nil, !parameters.isEmpty {
            filter = parameters.map { "\($0.attribute ?? $0.name) eq @\($0.name)" }.joined(separator: " and ")
        }
        sets[set.name] = SynchronizedSet(
            name: set.name, type: set.type, group: group, filter: filter, parameters: parameters,
            isPersonalizationStore: isPersonalizationStore, isLogRecords: isLogRecords)
    }

    private mutating func parameters(_ value: AnnotationExpression?, in place: String) -> [Parameter] {
        var found: [Parameter] = []
        for record in value?.members ?? [] {
            guard let name = named(record, in: place, of: "Parameters"), let type = type(record, name, in: place) else {
                continue
            }
            guard !found.contains(where: { $0.name == name }) else {
                problems.append(Problem(place, "The parameter \(name) is declared twice."))
                continue
            }
            found.append(
                Parameter(
                    name: name, type: type, isNullable: record.flag("Nullable") ?? false,
                    attribute: record.text("Property"), personalizationKey: record.text("PersonalizationKey"),
                    defaultValue: record.text("DefaultValue")))
        }
        return found
    }

    private mutating func named(_ record: AnnotationExpression, in place: String, of term: String) -> String? {
        if let name = record.text("Name"), !name.isEmpty { return name }
        problems.append(Problem(place, "An entry of \(term) has no Name. Give it one."))
        return nil
    }

    private mutating func type(_ record: AnnotationExpression, _ name: String, in place: String) -> PrimitiveType? {
        let text = record.text("Type") ?? ""
        if let type = PrimitiveType(rawValue: text), type != .stream { return type }
        problems.append(
            Problem(
                place,
                "\(name) has the type \(text.isEmpty ? "(none)" : text). State a primitive type such as Edm.String."))
        return nil
    }

    // MARK: Checking

    /// Finds the parts of each type. Parts form trees.
    ///
    /// An annotation `Composite` of the document decides. Types that are contained in several others by default are
    /// parts of each, since their rows are apart; types that are deleted with several others by default are parts of
    /// none.
    private mutating func readComposites(_ types: [StructuredType]) {
        struct Candidate {
            var owner: Owner
            var property: NavigationProperty
            var isStated: Bool
        }
        var candidates: [QualifiedName: [Candidate]] = [:]
        for type in types {
            for property in type.navigationProperties where property.isComposite {
                candidates[property.target, default: []].append(
                    Candidate(
                        owner: Owner(type: type.name, property: property.name), property: property,
                        isStated: property.annotation(Vocabulary.objects + "Composite") != nil))
            }
        }
        for (target, all) in candidates.sorted(by: { $0.key.description < $1.key.description }) {
            let stated = all.filter(\.isStated)
            if stated.count > 1 || (stated.count == 1 && all.contains { !$0.isStated && $0.property.isContainment }) {
                let second = all[1].owner
                problems.append(
                    Problem(
                        second.description,
                        "\(target) is a part of \(all[0].owner.type) by \(all[0].owner.property) already. A type has one composite parent: set Composite to false on one of the two."
                    ))
            }
            var chosen = stated.prefix(1).map { $0 }
            if chosen.isEmpty {
                chosen = all.filter(\.property.isContainment)
                if chosen.isEmpty, all.count == 1 { chosen = all }
            }
            for candidate in chosen { composites[candidate.owner] = target }
        }
        checkCircles { owner in candidates.values.joined().contains { $0.owner == owner && $0.isStated } }
    }

    /// Refuses types that are parts of themselves, at whatever distance, if the document says so. Contained entities of
    /// the type of their container are a tree nevertheless.
    private mutating func checkCircles(_ isStated: (Owner) -> Bool) {
        var parents: [QualifiedName: Owner] = [:]
        for (owner, target) in composites.sorted(by: { $0.key.description < $1.key.description }) {
            parents[target] = owner
        }
        var reported: Set<QualifiedName> = []
        for start in parents.keys.sorted(by: { $0.description < $1.description }) {
            var circle: [Owner] = []
            var next: QualifiedName? = start
            while let type = next, let owner = parents[type], !circle.contains(owner) {
                circle.append(owner)
                next = owner.type
            }
            guard let again = next, again == start, reported.isDisjoint(with: circle.map(\.type)) else { continue }
            reported.formUnion(circle.map(\.type))
            guard let stated = circle.first(where: isStated) else { continue }
            problems.append(
                Problem(
                    stated.description,
                    "\(start) is a part of itself. Set Composite to false on a navigation property of the circle."))
        }
    }

    /// Whether the entities of a navigation property are parts of an entity.
    ///
    /// - Parameter type: the type of the entity, which may inherit the property.
    public func isComposite(_ property: String, of type: QualifiedName, in model: EntityDataModel) -> Bool {
        var next: QualifiedName? = type
        while let current = next {
            if composites[Owner(type: current, property: property)] != nil { return true }
            next = model.structuredType(current)?.baseType
        }
        return false
    }

    /// Refuses sets of one composite tree in different groups.
    private mutating func checkGroups(_ model: EntityDataModel) {
        for set in model.container.entitySets {
            guard let shape = model.shape(set.type) else { continue }
            for property in shape.navigationProperties where !property.isContainment {
                guard isComposite(property.name, of: set.type, in: model),
                    let target = model.targetSet(of: set.name, path: property.name, target: property.target),
                    let own = sets[set.name]?.group, let other = sets[target.name]?.group, own != other
                else { continue }
                problems.append(
                    Problem(
                        target.name,
                        "It is in the group \(other), and \(set.name), of which its entities are parts, in \(own). Give both one group."
                    ))
            }
        }
    }

    private mutating func checkKeys(_ container: EntityContainer) {
        guard let key = keys.first(where: { $0.scope == .server }),
            !sets.values.contains(where: \.isPersonalizationStore)
        else { return }
        problems.append(
            Problem(
                container.name.description,
                "The personalization key \(key.name) is kept at the service, but no set has the term PersonalizationStore."
            ))
    }
}
