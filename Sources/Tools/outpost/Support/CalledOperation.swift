import ODataModel
import ODataQuery
import ODataService
import ToolLanguage

/// An action or a function of a service, as a person names it.
struct CalledOperation: Sendable {
    /// The address with the arguments of a function in it.
    let url: ODataURL
    let operation: ODataOperation

    /// Whether it may change something, so that its call can wait for a push.
    var isAction: Bool { operation.kind == .action }

    /// The parameters that a caller gives.
    var parameters: [ODataOperation.Parameter] {
        operation.isBound ? Array(operation.parameters.dropFirst()) : operation.parameters
    }

    /// Finds an operation.
    ///
    /// - Parameters:
    ///   - text: the address, such as `Orders(10248)/Shop.Ship`; the namespace may be left out.
    ///   - arguments: those of a function, which become a part of its address.
    /// - Throws: ``Failure`` for the address of something else.
    init(_ text: String, _ arguments: [String], editor: Edit.Editor) throws {
        let model = editor.provider.serviceModel
        let url = try ODataURL(parsing: editor.address(text))
        guard case .name(let name, let written)? = url.path.segments.last else { throw Self.unknown(text, model) }
        var names = [name.text]
        if !name.text.contains(".") { names += model.schemas.map { "\($0.namespace).\(name.text)" } }
        for name in names {
            var forms = [written]
            if arguments.isEmpty, written == .none { forms.append(.empty) }
            if !arguments.isEmpty, written == .none,
                let named = try Self.functionArguments(arguments, of: name, in: model, editor: editor)
            {
                forms.insert(.named(named), at: 0)
            }
            for form in forms {
                var candidate = url
                candidate.path.segments[candidate.path.segments.count - 1] = .name(Identifier(name), form)
                guard case .operation(let found, _)? = try? Binder(model: model).bind(candidate).resource.steps.last
                else { continue }
                guard found.kind == .action || arguments.isEmpty || form != written else { continue }
                self.url = candidate
                operation = found
                return
            }
        }
        throw Self.unknown(text, model)
    }

    /// The arguments of a function as they stand in its address; `nil` if no function has parameters of these names.
    private static func functionArguments(
        _ arguments: [String], of name: String, in model: EntityDataModel, editor: Edit.Editor
    ) throws -> [CommonExpression.NamedArgument]? {
        let imported = model.operationImports(name).map(\.operation)
        let overloads = (imported + [QualifiedName(name)].compactMap { $0 }).flatMap(model.operations)
            .filter { $0.kind == .function }
        let pairs = try arguments.map(Edit.Editor.pair)
        let wanted = Set(pairs.map(\.name))
        guard
            let function = overloads.first(where: { overload in
                Set(overload.parameters.dropFirst(overload.isBound ? 1 : 0).map(\.name)) == wanted
            })
        else { return nil }
        return try pairs.compactMap { pair in
            guard let type = function.parameters.first(where: { $0.name == pair.name })?.type else { return nil }
            let literal = try Self.literal(pair.text, of: pair.name, as: type, in: model, editor: editor)
            return CommonExpression.NamedArgument(name: Identifier(pair.name), value: .literal(literal))
        }
    }

    /// The literal of an argument.
    private static func literal(
        _ text: String, of name: String, as type: TypeReference, in model: EntityDataModel, editor: Edit.Editor
    ) throws -> Literal {
        let value = try editor.value(text, of: name, type)
        if case .enumeration(let number) = value, case .enumeration(let declared) = type,
            let members = model.enumType(declared)?.text(of: number)
        {
            return Literal(value, enumeration: Literal.EnumerationText(type: declared.description, members: members))
        }
        return Literal(value, type: type.primitive)
    }

    private static func unknown(_ text: String, _ model: EntityDataModel) -> Failure {
        let names = model.container.operationImports.map(\.name) + model.schemas.flatMap(\.operations).map(\.name.name)
        let near = QueryError.suggestions(
            for: String(text.split(separator: "/").last?.split(separator: "(").first?.split(separator: ".").last ?? ""),
            among: Array(Set(names)).sorted())
        return Failure(
            message: "\(text) is no action or function that can be called so.",
            advice: near.isEmpty
                ? "See the operations: outpost metadata show DIR"
                : "Did you mean \(near.joined(separator: translated(" or ")))?",
            status: .misused)
    }

    /// The failure of an argument that no parameter takes.
    func unknownParameter(_ name: String) -> Failure {
        Failure(
            message: "\(operation.name.name) has no parameter \(name).",
            advice: parameters.isEmpty
                ? "It takes none." : "Its parameters are \(parameters.map(\.name).joined(separator: ", ")).",
            status: .misused)
    }
}
