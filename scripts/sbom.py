#!/usr/bin/env python3
"""A software bill of materials, SPDX 2.3 as JSON: sbom.py [--out FILE]

The library and the tool contain nothing but this repository and the C library they are linked with; the page contains npm packages, which
web/package-lock.json names with their versions, licences and checksums. The same repository gives the same bytes: the time is that of its last commit.
"""
import argparse
import base64
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def version():
    return re.search(r'KK_VERSION "([\d.]+)"', (ROOT / "include" / "karakuri" / "version.h").read_text())[1]


def epoch():
    """Seconds of the last commit; SOURCE_DATE_EPOCH where it is set."""
    told = os.environ.get("SOURCE_DATE_EPOCH")
    if told:
        return int(told)
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip() else 0


def files():
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    return sorted(name for name in done.stdout.decode().split("\0") if name and (ROOT / name).is_file())


def digest(path, kind):
    return hashlib.new(kind, path.read_bytes()).hexdigest()


def verification_code(names):
    """SPDX 2.3, 7.9: the checksum over the checksums of all files."""
    return hashlib.sha1("".join(sorted(digest(ROOT / name, "sha1") for name in names)).encode()).hexdigest()


def own_package(names):
    return {"name": "karakuri", "SPDXID": "SPDXRef-karakuri", "versionInfo": version(), "downloadLocation": "NOASSERTION", "filesAnalyzed": True,
            "packageVerificationCode": {"packageVerificationCodeValue": verification_code(names)}, "licenseConcluded": "Apache-2.0",
            "licenseDeclared": "Apache-2.0", "licenseInfoFromFiles": ["NOASSERTION"], "copyrightText": "The Karakuri authors",
            "primaryPackagePurpose": "LIBRARY"}


def identifier(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-")


def npm_package(path, entry):
    name = path.rsplit("node_modules/", 1)[1]
    package = {"name": name, "SPDXID": identifier(f"npm-{path}-{entry['version']}"), "versionInfo": entry["version"], "downloadLocation": "NOASSERTION",
               "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": entry.get("license", "NOASSERTION"),
               "copyrightText": "NOASSERTION",
               "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                 "referenceLocator": f"pkg:npm/{name.replace('@', '%40')}@{entry['version']}"}]}
    if entry.get("integrity", "").startswith("sha512-"):
        package["checksums"] = [{"algorithm": "SHA512", "checksumValue": base64.b64decode(entry["integrity"][7:]).hex()}]
    return package, "DEV_DEPENDENCY_OF" if entry.get("dev") else "DEPENDENCY_OF"


def npm_packages():
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text())
    return [npm_package(path, entry) for path, entry in sorted(lock["packages"].items())
            if "node_modules/" in path and "version" in entry and not entry.get("link")]


def document():
    names, packages = files(), npm_packages()
    own = own_package(names)
    time = datetime.datetime.fromtimestamp(epoch(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    listed = [{"fileName": f"./{name}", "SPDXID": f"SPDXRef-file-{i}",
               "checksums": [{"algorithm": kind.upper(), "checksumValue": digest(ROOT / name, kind)} for kind in ("sha1", "sha256")],
               "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"} for i, name in enumerate(names)]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]}]
    relations += [{"spdxElementId": package["SPDXID"], "relationshipType": kind, "relatedSpdxElement": own["SPDXID"]} for package, kind in packages]
    relations += [{"spdxElementId": own["SPDXID"], "relationshipType": "CONTAINS", "relatedSpdxElement": file["SPDXID"]} for file in listed]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"karakuri-{version()}",
            "documentNamespace": f"urn:karakuri:{version()}:{own['packageVerificationCode']['packageVerificationCodeValue']}",
            "creationInfo": {"created": time, "creators": ["Tool: karakuri-sbom"]}, "packages": [own, *(package for package, _ in packages)],
            "files": listed, "relationships": relations}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, help="without it the standard output")
    options = parser.parse_args()
    text = json.dumps(document(), indent=1, sort_keys=True) + "\n"
    if options.out:
        options.out.write_text(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
