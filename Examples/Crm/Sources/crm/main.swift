import Foundation
import ODataClient
import ODataTransportURLSession
import ObjectAPI

// An app against `reference-service --package crm`. `crm` tells the life of an object, `crm report` asks and reads.
var arguments = CommandLine.arguments.dropFirst()
let isReport = arguments.first == "report"
if isReport { arguments.removeFirst() }
let root = arguments.first ?? "http://127.0.0.1:9090/"

if isReport {
    try await Report(root: root).run()
} else {
    let (crm, folder) = try await openCrm(root)
    try await tellStory(crm)
    try close(crm, folder)
}
