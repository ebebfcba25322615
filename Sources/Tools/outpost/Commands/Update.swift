import ArgumentParser
import Foundation
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import ToolLanguage

struct Update: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: translated("Change an entity in a clone; the change is sent with the next push."),
        discussion: translated(
            paragraphs: """
                An edit of an entity with a refused change mends that change: the next push sends both together. \
                Values are given as to 'outpost create', and so is --body.

                EXAMPLE
                  outpost update shop 'Orders(10248)' Freight=40 'ShipName=Vins & alcools'
                  outpost update shop "Customers('ALFKI')" Fax=null
                """))

    @OptionGroup var store: StoreOptions
    @Argument(help: .text("The entity.")) var entity: String
    @Argument(help: .text("Properties and their new values.")) var properties: [String] = []
    @OptionGroup var body: BodyOptions
    @OptionGroup var queuing: QueuingOptions
    @Flag(help: .text("Report as JSON.")) var json = false

    func validate() throws {
        guard !properties.isEmpty || body.file != nil else {
            throw ValidationError(translated("Say what is to be changed: NAME=VALUE, or --body with a file."))
        }
    }

    func run() async throws {
        let body = try body.contents
        try await Edit(store: store, queuing: queuing, json: json).run { editor in
            do {
                return try await editor.send(editor.update(of: entity, properties, body: body))
            } catch let error as ODataError where error.status == 412 {
                throw try await editor.absence(of: entity, in: store.directory)
            }
        }
    }
}

extension Edit.Editor {
    /// The failure of a change of a missing entity.
    func absence(of entity: String, in directory: String) async throws -> Failure {
        let set = String(entity.prefix { $0 != "(" })
        let isIncomplete = try await isIncomplete(set)
        return Failure(
            message: "\(entity) \(translated(isIncomplete ? "is not" : "does not exist")) in \(directory).",
            advice: isIncomplete
                ? "Not all is here of \(set): its first download is not complete. Go on with: outpost pull DIR"
                : "See what is there with: outpost query DIR \(set.shellQuoted)")
    }
}
