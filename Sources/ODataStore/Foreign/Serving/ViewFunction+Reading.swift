import GRDB
import ODataModel
import ODataService

extension ForeignModel.ViewFunction {
    /// The most rows that a function returns: its result is no collection of entities that pages could be made
    /// of.
    static let rowLimit = 100_000

    /// What answers a call of the function.
    func handler(in model: EntityDataModel) -> StoreProvider.OperationHandler {
        { call, database in
            guard call.request.url.options.isEmpty else {
                throw ODataError.notImplemented("Query options on the result of \(name)")
            }
            return try read(database, model)
        }
    }

    /// All rows of the view.
    private func read(_ database: Database, _ model: EntityDataModel) throws -> ResponseBody {
        let list = columns.map { quoted($0.name) }.joined(separator: ", ")
        let rows = try Row.fetchCursor(
            database, sql: "SELECT \(list) FROM \(quoted(view)) LIMIT ?", arguments: [Self.rowLimit + 1])
        var values: [ODataValue] = []
        while let row = try rows.next() {
            guard values.count < Self.rowLimit else {
                throw ODataError(
                    status: 501, code: "TooManyRows",
                    message: "\(name) has more than \(Self.rowLimit) rows; give the view a key to read it in pages.",
                    target: name)
            }
            var entity = Entity(shape: shape)
            for (ordinal, column) in columns.enumerated() {
                do {
                    entity.values[ordinal] = try column.decode(row[ordinal], in: model)
                } catch {
                    throw error.at(table: view, row: "number \(values.count + 1)")
                }
            }
            entity.markUnchanged()
            values.append(.complex(entity))
        }
        return .value(.collection(values), .collection(.complex(shape.name)))
    }
}
