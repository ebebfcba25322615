import ArgumentParser
import ODataModel
import ODataQuery
import OfflineOData
import ToolLanguage

struct Diff: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: translated("Show the values that were changed in a clone, before and after."),
        discussion: translated(
            paragraphs: """
                Without entities, all changes are shown that the service has not accepted. 'outpost changes' lists \
                them without values.

                EXAMPLE
                  outpost diff shop
                  outpost diff shop 'Orders(10248)'
                  outpost diff shop --conflicts --json
                """))

    @OptionGroup var store: StoreOptions
    @Argument(help: .text("The entities, by key.")) var entities: [String] = []
    @OptionGroup var filters: ChangeFilterOptions
    @Flag(help: .text("Report as JSON.")) var json = false

    func run() async throws {
        let (entities, filter) = (entities, filters.filter)
        let (items, model) = try await store.reading { store in
            let list = try await ChangeList(store)
            let wanted = try entities.map { text in
                let url = try ODataURL(parsing: text)
                try store.queries.check(url, written: text)
                return url.description
            }
            let items = list.items(filter).filter { item in
                wanted.isEmpty || wanted.contains { item.request.isAbout($0) }
            }
            return (items, list.model)
        }
        guard !json else { return print(JSONText(items.map { Report($0, model) }).text) }
        guard !items.isEmpty else {
            return print(
                entities.isEmpty ? filter.absence : "There is no change of \(entities.joined(separator: ", ")).")
        }
        for (index, item) in items.enumerated() {
            if index > 0 { print("") }
            show(item, model)
        }
    }

    private func show(_ item: ChangeList.Item, _ model: EntityDataModel) {
        let request = item.request
        let state: TerminalText = item.state == .pending ? "" : Terminal.dim(" (\(item.state.text))")
        print("\(Terminal.bold("#\(request.id) \(request.kind.rawValue) \(request.subjectText)"))\(state)")
        if case .call(let call) = request.subject, call.parameters != "{}" { print("  \(call.parameters)") }
        let versions = ValueVersions.changed(by: request, model)
        guard !versions.isEmpty else { return }
        let hasTheirs = versions.contains { $0.theirs != nil }
        var table = Table(["Property", "Before", "After"] + (hasTheirs ? ["Service"] : []))
        for version in versions {
            let before = request.kind == .create ? "" : version.cell(version.was)
            table.add(
                [version.name, before, version.cell(version.mine, missing: "")]
                    + (hasTheirs ? [version.cell(version.theirs)] : []))
        }
        Terminal.write(table.rendered())
    }

    private struct Report: Encodable {
        var id: Int64
        var kind: String
        var entity: String
        var state: String
        var target: String?
        var parameters: String?
        var properties: [ValueVersions]

        init(_ item: ChangeList.Item, _ model: EntityDataModel) {
            let request = item.request
            id = request.id
            kind = request.kind.rawValue
            entity = request.entityText
            state = request.state.rawValue
            if case .relation(let change) = request.subject { target = change.target }
            if case .call(let call) = request.subject { parameters = call.parameters }
            properties = ValueVersions.changed(by: request, model)
        }
    }
}

extension QueuedRequest {
    /// Whether the change is one of an entity, or of something in it.
    fileprivate func isAbout(_ entity: String) -> Bool { entityText == entity || entityText.hasPrefix(entity + "/") }
}
