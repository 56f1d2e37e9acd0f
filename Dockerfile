# robodyn as a command: docker build -t robodyn . && docker run --rm -v "$PWD:/data" robodyn run arm.toml
FROM python:3.13-slim AS build
COPY . /source
RUN CC=ziglang pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM python:3.13-slim
COPY --from=build /wheels /wheels
COPY constraints.txt /constraints.txt
RUN pip install --no-cache-dir --constraint /constraints.txt "$(ls /wheels/*.whl)[plot,export,spreadsheet,fmi]" && rm -r /wheels
# Results belong to who calls it: docker run --user "$(id -u):$(id -g)"; compiled models are kept in a volume, if one is given.
ENV ROBODYN_CACHE=/cache
RUN mkdir -m 1777 /cache
WORKDIR /data
ENTRYPOINT ["robodyn"]
CMD ["--help"]
