import ArgumentParser
import Foundation
import ODataModel
import ODataQuery
import ODataService
import OfflineOData
import ToolLanguage

struct Create: AsyncParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: translated("Make an entity in a clone; it is sent with the next push."),
        discussion: translated(
            paragraphs: """
                A relation is set by the name of the navigation property and the address of the entity: \
                "Customer=Customers('ALFKI')".

                A key that is left out is given by the service; until then a temporary one stands for it. A member of \
                an enumeration is given by its name, several flags with commas between them; a complex value or a \
                collection as JSON. --body takes the whole entity as JSON, with related entities in it, which are \
                created together.

                EXAMPLE
                  outpost create shop Customers CustomerID=NEWCO 'CompanyName=New Company'
                  outpost create shop Orders CustomerID=NEWCO Freight=12.50 ShippedDate=null
                  outpost create shop Visits CustomerID=NEWCO --category visits --priority 5
                  outpost create shop Orders CustomerID=NEWCO --body order-with-lines.json
                """))

    @OptionGroup var store: StoreOptions
    @Argument(help: .text("The entity set.")) var entitySet: String
    @Argument(help: .text("Properties and their values.")) var properties: [String] = []
    @OptionGroup var body: BodyOptions
    @OptionGroup var queuing: QueuingOptions
    @Flag(help: .text("Report as JSON.")) var json = false

    func run() async throws {
        let body = try body.contents
        try await Edit(store: store, queuing: queuing, json: json).run { editor in
            try await editor.send(editor.creation(in: entitySet, properties, body: body))
        }
    }
}
