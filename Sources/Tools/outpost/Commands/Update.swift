import ArgumentParser
import Foundation
import ODataModel
import ODataQuery
import ODataService
import OfflineOData

/// `outpost update`.
struct Update: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Change an entity in a clone; the change is sent with the next push.",
        discussion: """
            Changing an entity whose last change was refused mends it: the next push sends both together. Values are \
            given as to 'outpost create'.

            EXAMPLE
              outpost update shop 'Orders(10248)' Freight=40 'ShipName=Vins & alcools'
              outpost update shop "Customers('ALFKI')" Fax=null
            """)

    @OptionGroup var store: StoreOptions
    @Argument(help: "The entity.") var entity: String
    @Argument(help: "Properties and their new values.") var properties: [String]
    @OptionGroup var queuing: QueuingOptions
    @Flag(help: "Report as JSON.") var json = false

    func run() async throws {
        try await Edit(store: store, category: queuing.category, json: json).run { editor in
            let (url, shape) = try editor.single(entity)
            let changes = try editor.entity(shape, properties, isNew: false)
            // With a condition, since an update of what is not there would create it (11.4.4): a mistyped key must
            // not become an entity at the service.
            let request = ODataRequest(.update, url, body: .entity(changes), ifMatch: "*")
            do {
                return try await editor.send(request, "Changed")
            } catch let error as ODataError where error.status == 412 {
                let set = String(entity.prefix { $0 != "(" })
                let isIncomplete = try await editor.isIncomplete(set)
                throw Failure(
                    message: "\(entity) \(isIncomplete ? "is not" : "does not exist") in \(store.directory).",
                    advice: isIncomplete
                        ? "Not all is here of \(set): its first download is not complete. Go on with: outpost pull DIR"
                        : "See what is there with: outpost query DIR \(set.shellQuoted)")
            }
        }
    }
}
