import Foundation
import ODataModel

@testable import ODataQuery

/// A model in which every name of a corpus document has its kind, and every path can follow every other.
///
/// The document only states the kind of a name, such as entity set or navigation property. All entity sets
/// therefore have one type with all properties, all navigation properties lead to it, and all other entity types
/// derive from it. A refusal over this model depends only on the kinds of names.
struct CorpusModel {
    let model: EntityDataModel
    private let entity: QualifiedName

    /// Creates the model from the `constraints` of a document.
    init(constraints: [String: [String]]) throws {
        let names = Names(constraints)
        let spaces = names.list("namespacePart").isEmpty ? ["Corpus"] : names.list("namespacePart")
        let space = spaces[0]
        let entity = QualifiedName(space, "AnyEntity")
        self.entity = entity
        let complex = QualifiedName(space, "AnyComplex")
        var schemas: [ODataSchema] = []
        for name in spaces {
            var types: [StructuredType] = []
            if name == space {
                types.append(Self.type(entity, .entity, names, entity, complex))
                types.append(Self.type(complex, .complex, names, entity, complex))
            }
            types += names.list("entityTypeName").map {
                StructuredType(name: QualifiedName(name, $0), kind: .entity, baseType: entity)
            }
            types += names.list("complexTypeName").filter { !names.list("entityTypeName").contains($0) }.map {
                StructuredType(name: QualifiedName(name, $0), kind: .complex, baseType: complex)
            }
            let enumerations = names.list("enumerationTypeName").map {
                EnumType(
                    name: QualifiedName(name, $0), isFlags: true,
                    members: names.list("enumerationMember").enumerated().map { .init(name: $1, value: 1 << $0) })
            }
            schemas.append(
                ODataSchema(
                    namespace: name, structuredTypes: types, enumTypes: enumerations,
                    operations: Self.operations(name, names, entity, complex),
                    container: name == space ? Self.container(name, names, entity) : nil))
        }
        model = try EntityDataModel(schemas: schemas)
    }

    /// Returns the error of a case over the model; `nil` if it is bound, or has no part to bind.
    func refusal(of entry: CorpusABNFTests.Case) -> QueryError? {
        let binder = Binder(model: model)
        guard let shape = model.shape(entity) else { return nil }
        do throws(QueryError) {
            switch entry.rule {
            case "odataUri": _ = try binder.bind(ODataURL(parsing: CorpusABNFTests.relative(entry.input)))
            case "odataRelativeUri", "resourcePath": _ = try binder.bind(ODataURL(parsing: entry.input))
            case let rule where CorpusABNFTests.isExpression(rule):
                var options = QueryOptions()
                options.compute = [ComputeItem(try CorpusABNFTests.parsedExpression(entry), as: "Computed")]
                _ = try binder.bindQuery(options, shape: shape, set: nil)
            case let rule where CorpusABNFTests.isOption(rule):
                _ = try binder.bindQuery(CorpusABNFTests.parsedOptions(entry), shape: shape, set: nil)
            default: break
            }
            return nil
        } catch {
            // An unsupported feature is not a refusal of names.
            if case .unsupported = error.kind { return nil }
            return error
        }
    }

    private struct Names {
        let lists: [String: [String]]
        init(_ lists: [String: [String]]) { self.lists = lists }
        func list(_ rule: String) -> [String] { (lists[rule] ?? []).filter { !$0.contains("@") } }
    }

    private static func type(
        _ name: QualifiedName, _ kind: StructuredType.Kind, _ names: Names, _ entity: QualifiedName,
        _ complex: QualifiedName
    ) -> StructuredType {
        var taken: Set<String> = []
        func free(_ rules: String...) -> [String] {
            rules.flatMap(names.list).filter { taken.insert($0).inserted }
        }
        let navigation =
            free("entityColNavigationProperty").map {
                NavigationProperty(name: $0, target: entity, isCollection: true)
            }
            + free("entityNavigationProperty").map {
                NavigationProperty(name: $0, target: entity, isCollection: false)
            }
        let untyped = TypeReference.untyped("Edm.Untyped")
        let properties =
            free("primitiveKeyProperty", "primitiveNonKeyProperty").map { Property(name: $0, type: untyped) }
            + free("primitiveColProperty").map { Property(name: $0, type: .collection(untyped)) }
            + free("complexProperty").map { Property(name: $0, type: .complex(complex)) }
            + free("complexColProperty").map { Property(name: $0, type: .collection(.complex(complex))) }
            + free("streamProperty").map { Property(name: $0, type: .primitive(.stream)) }
        let key = names.list("primitiveKeyProperty").prefix(1).map { StructuredType.KeyProperty(path: $0) }
        return StructuredType(
            name: name, kind: kind, hasStream: kind == .entity, key: kind == .entity ? Array(key) : [],
            properties: properties, navigationProperties: navigation)
    }

    private static func operations(
        _ space: String, _ names: Names, _ entity: QualifiedName, _ complex: QualifiedName
    ) -> [ODataOperation] {
        let untyped = TypeReference.untyped("Edm.Untyped")
        let results: [(String, TypeReference)] = [
            ("entityFunction", .entity(entity)), ("entityColFunction", .collection(.entity(entity))),
            ("complexFunction", .complex(complex)), ("complexColFunction", .collection(.complex(complex))),
            ("primitiveFunction", untyped), ("primitiveColFunction", .collection(untyped)),
        ]
        let bindings: [TypeReference] = [.entity(entity), .collection(.entity(entity))]
        var operations: [ODataOperation] = []
        for (rule, result) in results {
            for name in names.list(rule) {
                operations += bindings.map {
                    ODataOperation(
                        name: QualifiedName(space, name), kind: .function, isBound: true, isComposable: true,
                        parameters: [.init(name: "bound", type: $0)], returnType: result)
                }
            }
            for name in names.list(rule + "Import") {
                operations.append(
                    ODataOperation(
                        name: QualifiedName(space, name), kind: .function, isComposable: true, returnType: result))
            }
        }
        for name in names.list("action") {
            operations += bindings.map {
                ODataOperation(
                    name: QualifiedName(space, name), kind: .action, isBound: true,
                    parameters: [.init(name: "bound", type: $0)])
            }
        }
        return operations
    }

    private static func container(_ space: String, _ names: Names, _ entity: QualifiedName) -> EntityContainer {
        let sets = names.list("entitySetName")
        let bindings = (names.list("entityColNavigationProperty") + names.list("entityNavigationProperty")).map {
            NavigationPropertyBinding(path: $0, target: sets.first ?? "")
        }
        let imports = [
            "entityFunctionImport", "entityColFunctionImport", "complexFunctionImport", "complexColFunctionImport",
            "primitiveFunctionImport", "primitiveColFunctionImport",
        ].flatMap(names.list)
        return EntityContainer(
            name: QualifiedName(space, "Container"),
            entitySets: sets.map { EntitySet(name: $0, type: entity, bindings: bindings) },
            singletons: names.list("singletonEntity").map { Singleton(name: $0, type: entity) },
            operationImports: imports.map {
                .init(name: $0, operation: QualifiedName(space, $0), kind: .function, entitySet: sets.first)
            })
    }
}
